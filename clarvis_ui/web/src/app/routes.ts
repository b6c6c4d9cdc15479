import type { Tip } from '../api/branches';
import { oneOf } from '../api/decode';
import { SEARCH_KINDS, type Wanted } from '../api/search';
import { readMoment, type TimelineQuery } from '../api/timeline';

/**
 * The fragment of the page's address: `#session=UUID` is all that is needed to come back to the
 * same place; `#login=CODE` lets one in and is taken out at once.
 */
export interface Route {
  session: string | null;
  inbox: boolean;
  archive: boolean;
  usage: boolean;
  search: Wanted | null;
  timeline: TimelineQuery | null;
  /** The tree of the session's branches, or two of them compared. */
  branches: 'tree' | ComparedBranches | null;
  login: string | null;
}

export interface ComparedBranches {
  one: Tip;
  other: Tip;
}

function parts(fragment: string): string[] {
  return fragment.replace(/^#/, '').split('&').filter(Boolean);
}

export function parseRoute(fragment: string): Route {
  const parameters = new URLSearchParams(parts(fragment).join('&'));
  return {
    session: parameters.get('session') || null,
    inbox: parameters.has('inbox'),
    archive: parameters.has('archive'),
    usage: parameters.has('usage'),
    search: parameters.has('search') ? searchIn(parameters) : null,
    timeline: parameters.has('timeline') ? timelineIn(parameters) : null,
    branches: branchesIn(parameters),
    login: parameters.get('login') || null,
  };
}

export function withoutLogin(fragment: string): string {
  const others = parts(fragment).filter((part) => !part.startsWith('login='));
  return others.length > 0 ? `#${others.join('&')}` : '';
}

export const LIST_HREF = '#';

export const INBOX_HREF = '#inbox';

export const ARCHIVE_HREF = '#archive';

export const USAGE_HREF = '#usage';

function searchIn(parameters: URLSearchParams): Wanted {
  return {
    words: parameters.get('search') ?? '',
    kind: oneOf(SEARCH_KINDS, parameters.get('kind')),
    workdir: parameters.get('in') || null,
    best: parameters.has('best'),
  };
}

const EVERYTHING: Wanted = { words: '', kind: null, workdir: null, best: false };

export function searchHref(wanted: Partial<Wanted> = {}): string {
  const { words, kind, workdir, best } = { ...EVERYTHING, ...wanted };
  const fragment = new URLSearchParams({ search: words });
  if (kind !== null) fragment.set('kind', kind);
  if (workdir !== null) fragment.set('in', workdir);
  if (best) fragment.set('best', '');
  return `#${fragment}`;
}

function timelineIn(parameters: URLSearchParams): TimelineQuery {
  const [from, to] = [readMoment(parameters.get('from')), readMoment(parameters.get('to'))];
  return {
    session: parameters.get('of') || null,
    workdir: parameters.get('in') || null,
    span: from !== null && to !== null && from < to ? { from, to } : null,
  };
}

export function timelineHref({ session, workdir, span }: Partial<TimelineQuery> = {}): string {
  const fragment = new URLSearchParams({ timeline: '' });
  if (session) fragment.set('of', session);
  if (workdir) fragment.set('in', workdir);
  if (span) {
    fragment.set('from', span.from);
    fragment.set('to', span.to);
  }
  return `#${fragment}`;
}

function branchesIn(parameters: URLSearchParams): Route['branches'] {
  const session = parameters.get('session');
  if (!session || !parameters.has('branches')) return null;
  const other = parameters.get('with');
  if (!other) return 'tree';
  return {
    one: { session, tip: parameters.get('branches') || null },
    other: { session: other, tip: parameters.get('withTip') || null },
  };
}

export function branchesHref(session: string): string {
  return `#${new URLSearchParams({ session })}&branches`;
}

export function comparedHref({ one, other }: ComparedBranches): string {
  const fragment = new URLSearchParams({ session: one.session, branches: one.tip ?? '' });
  fragment.set('with', other.session);
  if (other.tip !== null) fragment.set('withTip', other.tip);
  return `#${fragment}`;
}

export function messageHref(session: string, message: string): string {
  return `#${new URLSearchParams({ session, message })}`;
}

export function sessionHref(id: string): string {
  return `#session=${encodeURIComponent(id)}`;
}
