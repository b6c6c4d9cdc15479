/**
 * The fragment of the page's address: `#session=UUID` is all that is needed to come back to the
 * same place; `#login=CODE` lets one in and is taken out at once.
 */
export interface Address {
  session: string | null;
  /** Whether it is the list of what waits. */
  inbox: boolean;
  /** Whether it is what is kept of what Claude Code deletes. */
  archive: boolean;
  /** Whether it is what was used. */
  usage: boolean;
  login: string | null;
}

function parts(fragment: string): string[] {
  return fragment.replace(/^#/, '').split('&').filter(Boolean);
}

export function parseAddress(fragment: string): Address {
  const given = new URLSearchParams(parts(fragment).join('&'));
  return {
    session: given.get('session') || null,
    inbox: given.has('inbox'),
    archive: given.has('archive'),
    usage: given.has('usage'),
    login: given.get('login') || null,
  };
}

/** The same place without the code, all other parts as they were. */
export function withoutLogin(fragment: string): string {
  const kept = parts(fragment).filter((part) => !part.startsWith('login='));
  return kept.length > 0 ? `#${kept.join('&')}` : '';
}

/** Back to the list: a place without a session. */
export const LIST_HREF = '#';

/** Every question that waits, of every session. */
export const INBOX_HREF = '#inbox';

/** What is kept of what Claude Code deletes, and what it deletes before long. */
export const ARCHIVE_HREF = '#archive';

/** What was used: tokens and cost. */
export const USAGE_HREF = '#usage';

export function sessionHref(id: string): string {
  return `#session=${encodeURIComponent(id)}`;
}
