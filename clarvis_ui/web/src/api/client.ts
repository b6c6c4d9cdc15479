import { readArchive } from './archive';
import { type Answer, readAttentions, readInterruption } from './attention';
import {
  comparedQuery,
  readBranches,
  readBranchPage,
  readBranchWork,
  readFamily,
  type Tip,
} from './branches';
import { each, fields } from './decode';
import { readConversationPage, readMessage, readWaiting } from './messages';
import { createRequests } from './request';
import { type Outcome, success } from './result';
import {
  type RecapLevel,
  readAiRecap,
  readRecapPreference,
  readResumeReport,
  readSpecification,
} from './resume';
import { type Routing, readRouting, readRoutings } from './routing';
import { readSearchResponse, searchQuery, type Wanted } from './search';
import {
  type ModeChange,
  type Prompt,
  readAccepted,
  readCapabilities,
  readDirectories,
  readSettings,
} from './send';
import { readHealth, readSession, readSessionsPage } from './sessions';
import { readTimeline, type TimelineQuery, timelineQuery } from './timeline';
import { readUsage, type UsageBy } from './usage';

/** Everything that the page requests from its server. Tests stand in for it. */
export type Api = ReturnType<typeof createApi>;

export const PAGE_SIZE = 200;
/** Messages of a branch, and of what two branches have in common. */
const BRANCH_PAGE = '100';
const PAST_PAGE = '20';
const WHOLE_SUBAGENT = 10_000;

export function createApi(fetcher: typeof fetch) {
  const { send: request, onLoggedOut } = createRequests(fetcher);
  const session = (id: string, rest = ''): string =>
    `/api/sessions/${encodeURIComponent(id)}${rest}`;

  /** For answers whose content says no more than that they came. */
  async function done(
    path: string,
    body?: unknown,
    method: 'POST' | 'DELETE' = 'POST',
  ): Promise<Outcome<null>> {
    const outcome = await request(method, path, () => true, { body });
    return outcome.ok ? success(null) : outcome;
  }

  return {
    /** Calls whenever a request is answered that this browser is not logged in; returns the undo. */
    onLoggedOut,
    health(signal?: AbortSignal) {
      return request('GET', '/api/health', readHealth, { signal });
    },
    sessions(cursor: string | null, signal?: AbortSignal) {
      const query = new URLSearchParams({ limit: String(PAGE_SIZE) });
      if (cursor !== null) query.set('cursor', cursor);
      return request('GET', `/api/sessions?${query}`, readSessionsPage, { signal });
    },
    rename(id: string, name: string | null) {
      return request('PATCH', session(id), readSession, { body: { name } });
    },
    /** Marks a session as given up, or undoes that. */
    giveUp(id: string, givenUp: boolean) {
      return request('PATCH', session(id), readSession, { body: { givenUp } });
    },
    logIn: (code: string) => done('/login', { code }),
    logOut: () => done('/logout'),

    /** The end of a conversation, or the page above the cursor `before`, or all of it. */
    conversation(id: string, before: string | null, limit: number | 'all', signal?: AbortSignal) {
      const query = new URLSearchParams({ limit: String(limit) });
      if (before !== null) query.set('before', before);
      return request('GET', session(id, `?${query}`), readConversationPage, { signal });
    },
    subagent(id: string, agentId: string) {
      const path = session(id, `/subagents/${encodeURIComponent(agentId)}?limit=${WHOLE_SUBAGENT}`);
      return request('GET', path, (raw) => each(fields(raw)?.messages, readMessage));
    },
    send(prompt: Prompt, signal?: AbortSignal) {
      const body = { wait: true, ...prompt };
      return request('POST', '/api/send', readAccepted, { body, signal, keepalive: true });
    },
    /** Which session a command belongs to; nothing is sent. */
    route(text: string, signal?: AbortSignal): Promise<Outcome<Routing>> {
      return request('POST', '/api/route', readRouting, { body: { text }, signal });
    },
    /** Why messages were routed to a session. */
    routings(id: string, signal?: AbortSignal) {
      return request('GET', session(id, '/routings'), readRoutings, { signal });
    },
    archive(signal?: AbortSignal) {
      return request('GET', '/api/archive', readArchive, { signal });
    },
    search(wanted: Wanted, cursor: string | null, signal?: AbortSignal, limit = 50) {
      const query = searchQuery(wanted, cursor, limit);
      return request('GET', `/api/search?${query}`, readSearchResponse, { signal });
    },
    switchArchive(on: boolean) {
      return request('POST', '/api/archive', readArchive, { body: { on } });
    },
    /** Brings back a session that Claude Code deleted. */
    restore(id: string) {
      return request('POST', session(id, '/restore'), readSession);
    },
    resume(id: string, signal?: AbortSignal) {
      return request('GET', session(id, '/resume'), readResumeReport, { signal });
    },
    specification(id: string, signal?: AbortSignal) {
      return request('GET', session(id, '/specification'), readSpecification, { signal });
    },
    /** A recap by Claude itself. */
    recap(id: string) {
      return request('POST', session(id, '/recap'), readAiRecap);
    },
    /** How much recap is shown; chosen in one browser, it holds in all. */
    recapLevel: () => request('GET', '/api/preferences', readRecapPreference),
    prefer(recap: RecapLevel) {
      return request('PATCH', '/api/preferences', readRecapPreference, { body: { recap } });
    },
    usage(by: UsageBy, after: string | null, signal?: AbortSignal) {
      const query = new URLSearchParams({ by });
      if (after !== null) query.set('after', after);
      return request('GET', `/api/usage?${query}`, readUsage, { signal });
    },
    /** The activity of a session, a directory or all, with so many of its prompts. */
    timeline(query: TimelineQuery, prompts: number, signal?: AbortSignal) {
      const rest = `/timeline?${timelineQuery(query, prompts)}`;
      const path = query.session === null ? `/api${rest}` : session(query.session, rest);
      return request('GET', path, readTimeline, { signal });
    },
    /** Stops the running turn, and holds the queue. */
    interrupt: (id: string) => done(session(id, '/interrupt'), { hold: true }),
    /** What was open when the keeper ended in mid-turn; it can only be shown, not answered. */
    interruptedTurn(id: string) {
      return request('GET', session(id, '?limit=1'), readInterruption);
    },
    continueTurn: (id: string) => done(session(id, '/continue')),
    setMode(id: string, mode: ModeChange) {
      return request('POST', session(id, '/mode'), readSession, { body: mode });
    },
    settings(id: string, signal?: AbortSignal) {
      return request('GET', session(id, '/settings'), readSettings, { signal });
    },
    fork(id: string, at: string | null) {
      return request('POST', session(id, '/fork'), readSession, {
        body: at === null ? {} : { at },
      });
    },
    /** What a session is a fork of, and its forks. */
    family(id: string, signal?: AbortSignal) {
      return request('GET', session(id, '/family'), readFamily, { signal });
    },
    /** The branches inside a session, and which of them have the messages `of`. */
    branches(id: string, of: readonly string[], signal?: AbortSignal) {
      const query = of.length === 0 ? '' : `?${new URLSearchParams({ of: of.join() })}`;
      return request('GET', session(id, `/branches${query}`), readBranches, { signal });
    },
    /** The messages of a branch since it separated from the other; the next page after a message. */
    branch(one: Tip, other: Tip, after: string | null, signal?: AbortSignal) {
      const query = comparedQuery(one, other, { limit: BRANCH_PAGE, ...(after && { after }) });
      return request('GET', session(one.session, `/branch?${query}`), readBranchPage, { signal });
    },
    /** The messages that both have, from where they separate upwards. */
    commonPast(one: Tip, other: Tip, before: string | null, signal?: AbortSignal) {
      const page = { part: 'past', limit: PAST_PAGE, ...(before && { before }) };
      const query = comparedQuery(one, other, page);
      return request('GET', session(one.session, `/branch?${query}`), readBranchPage, { signal });
    },
    branchWork(one: Tip, other: Tip, signal?: AbortSignal) {
      const path = session(one.session, `/branch/work?${comparedQuery(one, other)}`);
      return request('GET', path, readBranchWork, { signal });
    },
    /** The queue, images included. */
    waiting: (id: string) => request('GET', session(id, '/queue'), readWaiting),
    /** Held messages queue again; `wait`: also while no CLI is free. */
    sendHeld(id: string, uuids: readonly string[], wait: boolean) {
      return done(session(id, '/queue/send'), { uuids, wait });
    },
    cancelQueued(id: string, uuid: string) {
      return done(session(id, `/queue/${encodeURIComponent(uuid)}`), undefined, 'DELETE');
    },
    offers: (id: string) => request('GET', session(id, '/commands'), readCapabilities),
    offersIn(workdir: string) {
      return request('GET', `/api/commands?${new URLSearchParams({ workdir })}`, readCapabilities);
    },
    attention(signal?: AbortSignal) {
      return request('GET', '/api/attention', readAttentions, { signal });
    },
    resolve(attentionId: string, answer: Answer, by: string) {
      return done('/api/resolve', { attentionId, ...answer, by });
    },
    directories(path: string | null) {
      const query = path === null ? '' : `?${new URLSearchParams({ path })}`;
      return request('GET', `/api/directories${query}`, readDirectories);
    },
  };
}
