import { type Archive, readArchive } from './archive';
import { type Answer, type Attention, type Left, readAttentions, readLeft } from './attention';
import {
  type Branches,
  type BranchPage,
  type BranchWork,
  comparedQuery,
  type Family,
  readBranches,
  readBranchPage,
  readBranchWork,
  readFamily,
  type Tip,
} from './branches';
import { each, fields } from './decode';
import {
  type ConversationPage,
  type Message,
  readConversationPage,
  readMessage,
  readWaiting,
  type WaitingMessage,
} from './messages';
import { createRequests, type Requests } from './request';
import { type Outcome, success } from './result';
import {
  type Retold,
  readRetold,
  readSpecification,
  readStanding,
  readTelling,
  type Specification,
  type Standing,
  type Telling,
} from './resume';
import { type Routed, type Routing, readRouting, readRoutings } from './routing';
import { type Found, readFound, searchQuery, type Wanted } from './search';
import {
  type Accepted,
  type Directories,
  type ModeChange,
  type Offers,
  type Prompt,
  readAccepted,
  readDirectories,
  readOffers,
  readSettings,
  type Settings,
} from './send';
import {
  type Health,
  readHealth,
  readSession,
  readSessionsPage,
  type Session,
  type SessionsPage,
} from './sessions';
import { type Looked, readTimeline, type Timeline, timelineQuery } from './timeline';
import { readUsage, type Usage, type UsageBy } from './usage';

/** Everything the page asks of its server. Stores are made over this, so tests can stand in for it. */
export interface Api {
  /** Calls whenever a request is answered that this browser is not logged in; returns the undo. */
  onLoggedOut: Requests['onLoggedOut'];
  health(signal?: AbortSignal): Promise<Outcome<Health>>;
  sessions(cursor: string | null, signal?: AbortSignal): Promise<Outcome<SessionsPage>>;
  rename(id: string, name: string | null): Promise<Outcome<Session>>;
  /** Marks a session as given up, or takes that back. */
  giveUp(id: string, givenUp: boolean): Promise<Outcome<Session>>;
  logIn(code: string): Promise<Outcome<null>>;
  logOut(): Promise<Outcome<null>>;

  /** The end of a conversation, or the page above the cursor `before`, or all of it. */
  conversation(
    id: string,
    before: string | null,
    limit: number | 'all',
    signal?: AbortSignal,
  ): Promise<Outcome<ConversationPage>>;
  subagent(id: string, agentId: string): Promise<Outcome<Message[]>>;
  send(prompt: Prompt, signal?: AbortSignal): Promise<Outcome<Accepted>>;
  /** Which conversation a command belongs to; nothing is sent. */
  route(words: string, signal?: AbortSignal): Promise<Outcome<Routing>>;
  /** Why messages of a session went there. */
  routings(id: string, signal?: AbortSignal): Promise<Outcome<Routed[]>>;
  archive(signal?: AbortSignal): Promise<Outcome<Archive>>;
  search(
    wanted: Wanted,
    cursor: string | null,
    signal?: AbortSignal,
    limit?: number,
  ): Promise<Outcome<Found>>;
  switchArchive(on: boolean): Promise<Outcome<Archive>>;
  /** Brings back a session that Claude Code deleted. */
  restore(id: string): Promise<Outcome<Session>>;
  /** Where a session stands, for somebody who comes back. */
  resume(id: string, signal?: AbortSignal): Promise<Outcome<Standing>>;
  /** What is written in the specification of the session's project. */
  specification(id: string, signal?: AbortSignal): Promise<Outcome<Specification>>;
  /** A recap by Claude itself. */
  recap(id: string): Promise<Outcome<Retold>>;
  /** How much one wants to be told on coming back; chosen in one browser, it holds in all. */
  telling(): Promise<Outcome<{ telling: Telling | null }>>;
  prefer(telling: Telling): Promise<Outcome<{ telling: Telling | null }>>;
  usage(by: UsageBy, after: string | null, signal?: AbortSignal): Promise<Outcome<Usage>>;
  /** What was done when, with so many of the prompts. */
  timeline(query: Looked, prompts: number, signal?: AbortSignal): Promise<Outcome<Timeline>>;
  /** Stops the turn that runs; what waits in line is held. */
  interrupt(id: string): Promise<Outcome<null>>;
  /** What was open when the keeper ended in mid-turn; it can only be shown, not answered. */
  interruptedTurn(id: string): Promise<Outcome<Left>>;
  continueTurn(id: string): Promise<Outcome<null>>;
  setMode(id: string, mode: ModeChange): Promise<Outcome<Session>>;
  settings(id: string, signal?: AbortSignal): Promise<Outcome<Settings>>;
  fork(id: string, at: string | null): Promise<Outcome<Session>>;
  /** What a session is a fork of, and its forks. */
  family(id: string, signal?: AbortSignal): Promise<Outcome<Family>>;
  /** Those inside of a session, and which of them has these messages. */
  branches(id: string, of: readonly string[], signal?: AbortSignal): Promise<Outcome<Branches>>;
  /** What the one says since it parted from the other; the next page after a message. */
  branch(
    one: Tip,
    other: Tip,
    after: string | null,
    signal?: AbortSignal,
  ): Promise<Outcome<BranchPage>>;
  /** What both say, from where they part upwards. */
  commonPast(
    one: Tip,
    other: Tip,
    before: string | null,
    signal?: AbortSignal,
  ): Promise<Outcome<BranchPage>>;
  branchWork(one: Tip, other: Tip, signal?: AbortSignal): Promise<Outcome<BranchWork>>;
  /** What waits in line, images included. */
  waiting(id: string): Promise<Outcome<WaitingMessage[]>>;
  cancelQueued(id: string, uuid: string): Promise<Outcome<null>>;
  /** What was held waits for its turn again; `wait`: also for a place. */
  sendHeld(id: string, uuids: readonly string[], wait: boolean): Promise<Outcome<null>>;
  offers(id: string): Promise<Outcome<Offers>>;
  offersIn(workdir: string): Promise<Outcome<Offers>>;
  attention(signal?: AbortSignal): Promise<Outcome<Attention[]>>;
  resolve(attentionId: string, answer: Answer, by: string): Promise<Outcome<null>>;
  directories(path: string | null): Promise<Outcome<Directories>>;
}

export const PAGE_SIZE = 200;
/** Of two branches side by side, and of what they have in common. */
const BRANCH_PAGE = '100';
const PAST_PAGE = '20';
const WHOLE_SUBAGENT = 10_000;

export function createApi(fetcher: typeof fetch): Api {
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
    onLoggedOut,
    health: (signal) => request('GET', '/api/health', readHealth, { signal }),
    sessions(cursor, signal) {
      const query = new URLSearchParams({ limit: String(PAGE_SIZE) });
      if (cursor !== null) query.set('cursor', cursor);
      return request('GET', `/api/sessions?${query}`, readSessionsPage, { signal });
    },
    rename: (id, name) => request('PATCH', session(id), readSession, { body: { name } }),
    giveUp: (id, givenUp) => request('PATCH', session(id), readSession, { body: { givenUp } }),
    logIn: (code) => done('/login', { code }),
    logOut: () => done('/logout'),

    conversation(id, before, limit, signal) {
      const query = new URLSearchParams({ limit: String(limit) });
      if (before !== null) query.set('before', before);
      return request('GET', session(id, `?${query}`), readConversationPage, { signal });
    },
    subagent(id, agentId) {
      const path = session(id, `/subagents/${encodeURIComponent(agentId)}?limit=${WHOLE_SUBAGENT}`);
      return request('GET', path, (raw) => each(fields(raw)?.messages, readMessage));
    },
    send: (prompt, signal) => {
      const body = { wait: true, ...prompt };
      return request('POST', '/api/send', readAccepted, { body, signal, keepalive: true });
    },
    route: (words, signal) =>
      request('POST', '/api/route', readRouting, { body: { text: words }, signal }),
    routings: (id, signal) => request('GET', session(id, '/routings'), readRoutings, { signal }),
    archive: (signal) => request('GET', '/api/archive', readArchive, { signal }),
    search: (wanted, cursor, signal, limit = 50) =>
      request('GET', `/api/search?${searchQuery(wanted, cursor, limit)}`, readFound, { signal }),
    switchArchive: (on) => request('POST', '/api/archive', readArchive, { body: { on } }),
    restore: (id) => request('POST', session(id, '/restore'), readSession),
    resume: (id, signal) => request('GET', session(id, '/resume'), readStanding, { signal }),
    specification: (id, signal) =>
      request('GET', session(id, '/specification'), readSpecification, { signal }),
    recap: (id) => request('POST', session(id, '/recap'), readRetold),
    telling: () => request('GET', '/api/preferences', readTelling),
    prefer: (recap) => request('PATCH', '/api/preferences', readTelling, { body: { recap } }),
    usage(by, after, signal) {
      const query = new URLSearchParams({ by });
      if (after !== null) query.set('after', after);
      return request('GET', `/api/usage?${query}`, readUsage, { signal });
    },
    timeline(query, prompts, signal) {
      const search = timelineQuery(query, prompts);
      const path =
        query.session === null
          ? `/api/timeline?${search}`
          : session(query.session, `/timeline?${search}`);
      return request('GET', path, readTimeline, { signal });
    },
    interrupt: (id) => done(session(id, '/interrupt'), { hold: true }),
    interruptedTurn: (id) => request('GET', session(id, '?limit=1'), readLeft),
    continueTurn: (id) => done(session(id, '/continue')),
    setMode: (id, mode) => request('POST', session(id, '/mode'), readSession, { body: mode }),
    settings: (id, signal) => request('GET', session(id, '/settings'), readSettings, { signal }),
    fork: (id, at) =>
      request('POST', session(id, '/fork'), readSession, { body: at === null ? {} : { at } }),
    family: (id, signal) => request('GET', session(id, '/family'), readFamily, { signal }),
    branches(id, of, signal) {
      const query = of.length === 0 ? '' : `?${new URLSearchParams({ of: of.join() })}`;
      return request('GET', session(id, `/branches${query}`), readBranches, { signal });
    },
    branch(one, other, after, signal) {
      const query = comparedQuery(one, other, { limit: BRANCH_PAGE, ...(after && { after }) });
      return request('GET', session(one.session, `/branch?${query}`), readBranchPage, { signal });
    },
    commonPast(one, other, before, signal) {
      const page = { part: 'past', limit: PAST_PAGE, ...(before && { before }) };
      const query = comparedQuery(one, other, page);
      return request('GET', session(one.session, `/branch?${query}`), readBranchPage, { signal });
    },
    branchWork(one, other, signal) {
      const query = comparedQuery(one, other);
      return request('GET', session(one.session, `/branch/work?${query}`), readBranchWork, {
        signal,
      });
    },
    waiting: (id) => request('GET', session(id, '/queue'), readWaiting),
    sendHeld: (id, uuids, wait) => done(session(id, '/queue/send'), { uuids, wait }),
    cancelQueued: (id, uuid) =>
      done(session(id, `/queue/${encodeURIComponent(uuid)}`), undefined, 'DELETE'),
    offers: (id) => request('GET', session(id, '/commands'), readOffers),
    offersIn: (workdir) =>
      request('GET', `/api/commands?${new URLSearchParams({ workdir })}`, readOffers),
    attention: (signal) => request('GET', '/api/attention', readAttentions, { signal }),
    resolve: (attentionId, answer, by) => done('/api/resolve', { attentionId, ...answer, by }),
    directories: (path) =>
      request(
        'GET',
        `/api/directories${path === null ? '' : `?${new URLSearchParams({ path })}`}`,
        readDirectories,
      ),
  };
}
