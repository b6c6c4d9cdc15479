/** Every open question of every session, and how the last ones were settled. */

import type { Attention, Decision } from '../api/attention';
import type { AttentionRaised, AttentionSettled } from '../api/events';

export interface SettledAttention {
  attention: Attention;
  /** `gone`: it is no longer open, for an unknown reason. */
  decision: Decision | 'gone';
  by: string | null;
  /** Whether it was this page that answered. */
  mine: boolean;
}

export interface Inbox {
  readonly open: readonly Attention[];
  /** Newest first. */
  readonly settled: readonly SettledAttention[];
  /** Answers on their way: the card waits for what becomes of it. */
  readonly answering: ReadonlySet<string>;
  readonly problems: ReadonlyMap<string, string>;
}

export type InboxEvent =
  | AttentionRaised
  | AttentionSettled
  /** All that was open when the list was requested. */
  | { type: 'attention/listed'; attention: readonly Attention[]; raisedSince: ReadonlySet<string> }
  | { type: 'answer/begun'; attentionId: string }
  | { type: 'answer/failed'; attentionId: string; problem: string };

export const EMPTY_INBOX: Inbox = {
  open: [],
  settled: [],
  answering: new Set(),
  problems: new Map(),
};

const SETTLED_KEPT = 50;
const TERMINAL = 'terminal';

export function reduceInbox(inbox: Inbox, event: InboxEvent): Inbox {
  switch (event.type) {
    case 'attention/raised':
      return addRaised(inbox, event.attention);
    case 'attention/settled':
      return addSettled(inbox, event.attentionId, event.decision, event.by);
    case 'attention/listed': {
      const listed = new Set(event.attention.map((attention) => attention.id));
      const gone = inbox.open.filter(({ id }) => !listed.has(id) && !event.raisedSince.has(id));
      const after = gone.reduce((next, { id }) => addSettled(next, id, 'gone', null), inbox);
      return event.attention.reduce(addRaised, after);
    }
    case 'answer/begun':
      return {
        ...inbox,
        answering: new Set([...inbox.answering, event.attentionId]),
        problems: without(inbox.problems, event.attentionId),
      };
    case 'answer/failed': {
      const answering = new Set(inbox.answering);
      answering.delete(event.attentionId);
      const problems = new Map(inbox.problems).set(event.attentionId, event.problem);
      return { ...inbox, answering, problems };
    }
    default:
      return event satisfies never;
  }
}

function addRaised(inbox: Inbox, attention: Attention): Inbox {
  const last = inbox.settled.find((other) => other.attention.id === attention.id);
  // a replay raises it again; what was settled stays settled, unless we only guessed it
  if (last && last.decision !== 'gone') return inbox;
  const open = inbox.open.some(({ id }) => id === attention.id)
    ? inbox.open.map((other) => (other.id === attention.id ? attention : other))
    : [...inbox.open, attention].sort(byAge);
  const settledNow = last ? inbox.settled.filter((other) => other !== last) : inbox.settled;
  return { ...inbox, open, settled: settledNow };
}

function addSettled(
  inbox: Inbox,
  id: string,
  decision: SettledAttention['decision'],
  by: string | null,
): Inbox {
  const before = inbox.settled.find((other) => other.attention.id === id);
  const attention =
    inbox.open.find((open) => open.id === id) ??
    (before && isCorrected(before, decision, by) ? before.attention : undefined);
  if (!attention) return inbox;
  const one: SettledAttention = { attention, decision, by, mine: inbox.answering.has(id) };
  const answering = new Set(inbox.answering);
  answering.delete(id);
  return {
    open: inbox.open.filter((open) => open.id !== id),
    settled: [one, ...inbox.settled.filter((other) => other.attention.id !== id)].slice(
      0,
      SETTLED_KEPT,
    ),
    answering,
    problems: without(inbox.problems, id),
  };
}

/** Whether a later event says more exactly how it was settled. */
function isCorrected(
  before: SettledAttention,
  decision: SettledAttention['decision'],
  by: string | null,
): boolean {
  if (before.decision === 'gone') return true;
  // the terminal was answered a moment before our answer reached it
  return by === TERMINAL && before.by !== TERMINAL && decision !== 'withdrawn';
}

function byAge(a: Attention, b: Attention): number {
  const [one, other] = [a.raised ?? '', b.raised ?? ''];
  return one < other ? -1 : one > other ? 1 : 0;
}

function without<T>(map: ReadonlyMap<string, T>, key: string): ReadonlyMap<string, T> {
  if (!map.has(key)) return map;
  const next = new Map(map);
  next.delete(key);
  return next;
}

// ---- derived ----

export function openIn(inbox: Inbox, sessionId: string): Attention[] {
  return inbox.open.filter((attention) => attention.sessionId === sessionId);
}

export function openBySession(inbox: Inbox): ReadonlyMap<string, readonly Attention[]> {
  const bySession = new Map<string, Attention[]>();
  for (const attention of inbox.open) {
    const open = bySession.get(attention.sessionId) ?? [];
    open.push(attention);
    bySession.set(attention.sessionId, open);
  }
  return bySession;
}

export function lastSettledIn(inbox: Inbox, sessionId: string): SettledAttention | null {
  return inbox.settled.find((one) => one.attention.sessionId === sessionId) ?? null;
}
