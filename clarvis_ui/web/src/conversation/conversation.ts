/**
 * The reducer of one conversation: `(state, event) → state`.
 *
 * Its input is pages over REST, each with the position at which it was read; events in the order of
 * their positions, some possibly twice; and optimistic messages. A page contains every event up to
 * its position, so an event at or before `seenSeq` is skipped. After the stream is lost, events are
 * held in `heldEvents` until the next page says where they belong.
 */

import type { EventOf } from '../api/eventBus';
import type { MessageAdded, Position, TurnOutcome } from '../api/events';
import { readPosition } from '../api/events';
import type { FailedTurn } from '../api/failedTurns';
import type {
  BranchPoint,
  ConversationPage,
  Message,
  Partial,
  Queued,
  Turn,
} from '../api/messages';
import { withoutPrompt } from './failedTurns';
import { isFinalOf } from './finalMessage';
import { type OptimisticMessage, withOptimistic } from './optimistic';
import {
  changeOptimistic,
  dropConfirmed,
  dropOptimistic,
  failTurn,
  finishTurn,
  markFailed,
  revive,
  UNKNOWN,
} from './ownMessages';

export type { Block, Message, Partial, Turn, TurnStatus, Usage } from '../api/messages';
export {
  type QueuedMessage,
  queuedMessages,
  type VisibleMessage,
  visibleMessages,
} from './visibleMessages';

export interface ConversationState {
  readonly sessionId: string;
  readonly loaded: boolean;
  /** Confirmed messages, oldest first, without holes from the first one on. */
  readonly messages: readonly Message[];
  /** The cursor of the page above; null at the beginning. */
  readonly before: string | null;
  readonly branches: readonly BranchPoint[];
  readonly partial: Partial | null;
  readonly turn: Turn | null;
  readonly queue: readonly Queued[];
  /** What left the queue last; no transcript has it until Claude confirms it. */
  readonly taken: Queued | null;
  readonly ended: { outcome: TurnOutcome; error: string | null } | null;
  /** Turns that did not come to their end, the oldest first. */
  readonly failed: readonly FailedTurn[];
  readonly optimistic: readonly OptimisticMessage[];
  /** Uuids of our messages, confirmed or not. None of them confirms another one as its copy. */
  readonly own: readonly string[];

  readonly epoch: string | null;
  /** The last position that is part of this state. */
  readonly seenSeq: number;
  /** The position of the last page from the end. */
  readonly pageSeq: number;
  /** Events after a gap in the stream; null without a gap. */
  readonly heldEvents: readonly ReducedEvent[] | null;
  /** The last position at which something above the loaded messages changed. */
  readonly aboveSeq: number;
}

const CHANGED_BY_DELTAS = [
  'partial',
  'epoch',
  'seenSeq',
] as const satisfies readonly (keyof ConversationState)[];

/** What the page reads as a whole: all but what every delta changes. */
export type Conversation = Omit<ConversationState, (typeof CHANGED_BY_DELTAS)[number]>;

/** The same object where only deltas came, so that nothing but the partial is drawn again. */
export function readableConversation(before: Conversation, after: ConversationState): Conversation {
  const ignored: readonly string[] = CHANGED_BY_DELTAS;
  const keys = Object.keys(after).filter((key) => !ignored.includes(key)) as (keyof Conversation)[];
  return keys.every((key) => before[key] === after[key]) ? before : after;
}

/** What the keeper tells of a conversation. */
export const CONVERSATION_EVENTS = [
  'message/added',
  'message/delta',
  'message/withdrawn',
  'turn/started',
  'turn/status',
  'turn/finished',
  'queue/updated',
  'session/failed',
] as const;

type ReducedEvent = EventOf<(typeof CONVERSATION_EVENTS)[number]>;

export type ConversationEvent =
  | ReducedEvent
  /** The end of the conversation, as it was at the page's position. */
  | {
      type: 'page/loaded';
      page: ConversationPage;
      /** Our messages that the keeper had accepted before this page was requested. */
      accepted?: readonly string[];
    }
  /** The page above the cursor `above`. */
  | { type: 'page/above'; above: string; page: ConversationPage }
  /** Events may have been missed; only a page closes the gap. */
  | { type: 'stream/broken' }
  | { type: 'sending/begun'; pending: OptimisticMessage }
  | { type: 'sending/accepted'; uuid: string }
  | { type: 'sending/failed'; uuid: string; problem: string }
  /** Somebody else runs the session: the person decides what happens with the message. */
  | { type: 'sending/elsewhere'; uuid: string }
  | { type: 'sending/withdrawn'; uuid: string };

const MAX_OWN = 100;

export function emptyConversation(sessionId: string): ConversationState {
  return {
    sessionId,
    loaded: false,
    messages: [],
    before: null,
    branches: [],
    partial: null,
    turn: null,
    queue: [],
    taken: null,
    ended: null,
    failed: [],
    optimistic: [],
    own: [],
    epoch: null,
    seenSeq: -1,
    pageSeq: -1,
    heldEvents: [],
    aboveSeq: -1,
  };
}

export function reduce(state: ConversationState, event: ConversationEvent): ConversationState {
  switch (event.type) {
    case 'page/loaded':
      return applyPage(state, event.page, event.accepted ?? []);
    case 'page/above':
      return applyOlderPage(state, event.above, event.page);
    case 'stream/broken':
      return state.heldEvents === null ? { ...state, heldEvents: [] } : state;
    case 'sending/begun':
      return dropConfirmed({
        ...state,
        optimistic: withOptimistic(state.optimistic, event.pending),
        own: [...state.own.filter((uuid) => uuid !== event.pending.uuid), event.pending.uuid].slice(
          -MAX_OWN,
        ),
      });
    case 'sending/accepted':
      return dropConfirmed(
        changeOptimistic(state, event.uuid, { state: 'accepted', problem: null }),
      );
    case 'sending/failed':
      return changeOptimistic(state, event.uuid, { state: 'failed', problem: event.problem });
    case 'sending/elsewhere':
      return changeOptimistic(state, event.uuid, { state: 'elsewhere', problem: null });
    case 'sending/withdrawn':
      return dropOptimistic(
        { ...state, failed: withoutPrompt(state.failed, [event.uuid]) },
        event.uuid,
      );
    default:
      return applyEvent(state, event);
  }
}

// ---- pages ----

function applyPage(
  state: ConversationState,
  page: ConversationPage,
  accepted: readonly string[],
): ConversationState {
  const at = positionIn(state, readPosition(page.position));
  // older than what we know: what followed it would be missing, or is here already
  const hole = state.heldEvents !== null;
  if (at.sameEpoch && (hole ? at.seq < state.seenSeq : at.seq <= state.seenSeq)) return state;

  // nothing of before is kept: whoever asks for the page asks for as much as was loaded
  const loaded: ConversationState = {
    ...state,
    loaded: true,
    messages: page.messages,
    before: page.before,
    branches: page.branches,
    partial: page.partial,
    turn: page.turn,
    queue: page.queue.filter(isWaiting),
    taken: page.queue.findLast(isTaken) ?? null,
    ended: page.turn === null ? state.ended : null,
    failed: page.failed ?? state.failed,
    epoch: at.epoch,
    seenSeq: at.seq,
    pageSeq: at.seq,
    heldEvents: null,
    aboveSeq: -1,
  };
  const settled = markLost(
    page.interruptedQueue.reduce(dropOptimistic, markFailed(dropConfirmed(loaded))),
    page,
    accepted,
  );
  return (state.heldEvents ?? []).reduce(reduce, settled);
}

function applyOlderPage(
  state: ConversationState,
  above: string,
  page: ConversationPage,
): ConversationState {
  const at = positionIn(state, readPosition(page.position));
  // older than something that was told of the part above: it would be missing from it
  const newest = Math.max(state.pageSeq, state.aboveSeq);
  if (above !== state.before || !at.sameEpoch || at.seq < newest) return state;
  const here = new Set(state.messages.map((message) => message.uuid));
  return dropConfirmed({
    ...state,
    messages: [...page.messages.filter((message) => !here.has(message.uuid)), ...state.messages],
    before: page.before,
    branches: mergeBranches(page.branches, state.branches),
    aboveSeq: at.seq,
  });
}

interface PagePosition extends Position {
  sameEpoch: boolean;
}

/** An answer without a position is taken to be as new as all we know. */
function positionIn(state: ConversationState, position: Position | null): PagePosition {
  if (position === null) {
    return { epoch: state.epoch ?? '', seq: Math.max(state.seenSeq, 0), sameEpoch: true };
  }
  return { ...position, sameEpoch: state.epoch === null || state.epoch === position.epoch };
}

function mergeBranches(
  above: readonly BranchPoint[],
  below: readonly BranchPoint[],
): BranchPoint[] {
  const ids = new Set(below.map((branch) => branch.id));
  return [...above.filter((branch) => !ids.has(branch.id)), ...below];
}

/**
 * What the keeper does not know can be sent again: it went down with an earlier keeper that had
 * taken it, or never arrived.
 */
function markLost(
  state: ConversationState,
  page: ConversationPage,
  accepted: readonly string[],
): ConversationState {
  const resting = page.session.state === 'idle' || page.session.state === 'error';
  const atKeeper = new Set([page.turn?.uuid, ...page.queue.map((queued) => queued.uuid)]);
  const waiting = new Set(state.queue.map((queued) => queued.uuid));
  // what failed says so already
  const failed = new Set(state.failed.map((turn) => turn.uuid));
  return state.optimistic
    .filter(({ uuid }) => accepted.includes(uuid) && !failed.has(uuid))
    .reduce((next, { uuid, state: way }) => {
      const lost = (problem: string) => changeOptimistic(next, uuid, { state: 'failed', problem });
      if (way === 'sending') {
        if (!atKeeper.has(uuid)) return lost('The page was left before it had arrived.');
        return changeOptimistic(next, uuid, { state: 'accepted', problem: null });
      }
      // what Claude has just got is in the queue no more, and not in the conversation yet
      if (way !== 'accepted' || !resting || waiting.has(uuid)) return next;
      return lost('Neither the conversation nor the keeper has it.');
    }, state);
}

// ---- events ----

function applyEvent(state: ConversationState, event: ReducedEvent): ConversationState {
  if (state.heldEvents !== null) return { ...state, heldEvents: [...state.heldEvents, event] };
  const at = positionIn(state, event.position);
  if (event.position !== null && at.sameEpoch && at.seq <= state.seenSeq) return state;
  return applyNew({ ...state, epoch: at.epoch, seenSeq: at.seq }, event);
}

function applyNew(state: ConversationState, event: ReducedEvent): ConversationState {
  switch (event.type) {
    case 'message/added':
      return dropConfirmed(insertMessage(state, event));
    case 'message/delta': {
      const { messageId, index, kind, text, tool, toolUseId } = event;
      const last = state.partial;
      const goesOn = last !== null && last.messageId === messageId && last.index === index;
      const partial = goesOn
        ? { ...last, text: last.text + text }
        : { messageId, index, kind, text, tool, toolUseId };
      return { ...state, partial };
    }
    case 'message/withdrawn': {
      const { partial } = state;
      const same = partial?.messageId === event.messageId && partial.index === event.index;
      return same ? { ...state, partial: null } : state;
    }
    case 'turn/started':
      return {
        ...state,
        turn: { uuid: event.uuid, started: null, status: null },
        partial: null,
        ended: null,
        ...revive(state, [event.uuid]),
      };
    case 'turn/status': {
      const turn = state.turn ?? { uuid: null, started: null, status: null };
      return { ...state, turn: { ...turn, status: event.status } };
    }
    case 'turn/finished': {
      const ended = { outcome: event.outcome, error: event.error };
      const error = { code: UNKNOWN, message: event.error ?? '' };
      const before = error.message === '' ? state : failTurn(state, event.uuid, error);
      const over: ConversationState = { ...before, turn: null, partial: null, ended };
      return event.uuid === null ? over : finishTurn(over, event.uuid, ended);
    }
    case 'queue/updated': {
      const cancelled = event.queue.filter((queued) => queued.state === 'cancelled');
      const uuids = event.queue.map((queued) => queued.uuid);
      return cancelled.reduce<ConversationState>(
        (next, queued) => dropOptimistic(next, queued.uuid),
        {
          ...state,
          ...revive(state, uuids),
          queue: event.queue.filter(isWaiting),
          taken: event.queue.findLast(isTaken) ?? state.taken,
        },
      );
    }
    case 'session/failed':
      return failTurn(state, event.uuid, event.error);
    default:
      return event satisfies never;
  }
}

/** The message in its place; what streamed of it goes. */
function insertMessage(state: ConversationState, event: MessageAdded): ConversationState {
  const { message, after } = event;
  const partial = isFinalOf(message, state.partial, state.messages) ? null : state.partial;
  const index = indexOf(state.messages, message.uuid);
  const anchor = after === null ? -1 : indexOf(state.messages, after);
  const above = after !== null && anchor < 0 && state.before !== null;

  // across the edge of what is loaded nothing can be moved: only a new page says what stands there
  if (index >= 0 && (above || (index === 0 && after !== null && state.before !== null))) {
    return { ...state, partial, heldEvents: [] };
  }
  if (above) return { ...state, partial, aboveSeq: state.seenSeq };
  if (anchor < 0 || after === message.uuid) {
    const messages = index < 0 ? [...state.messages, message] : state.messages.with(index, message);
    return { ...state, partial, messages };
  }
  const others = index < 0 ? state.messages : state.messages.toSpliced(index, 1);
  const behind = indexOf(others, after as string) + 1;
  return { ...state, partial, messages: others.toSpliced(behind, 0, message) };
}

function isWaiting(queued: Queued): boolean {
  return queued.state === 'queued' || queued.state === 'held';
}

function isTaken(queued: Queued): boolean {
  return queued.state === 'taken';
}

/** From the end, where nearly everything happens. */
function indexOf(messages: readonly Message[], uuid: string): number {
  return messages.findLastIndex((message) => message.uuid === uuid);
}
