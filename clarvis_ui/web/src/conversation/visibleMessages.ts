import type { FailedTurn } from '../api/failedTurns';
import type { Block, Message, Queued } from '../api/messages';
import type { Conversation } from './conversation';
import {
  emptyMessage,
  failedTurnIndex,
  headingMessage,
  headingOf,
  messagesOfFailedTurn,
  reasonMessage,
} from './failedTurns';
import { isTyped, type OptimisticMessage, textOf } from './optimistic';

/** A conversation as it is read: what is confirmed, what is on its way, what waits. */

/** A message as it is shown: one of our own stands there before the keeper has confirmed it. */
export type VisibleMessage = Message & {
  /** `taken`: somebody else's, which Claude has not confirmed. */
  optimistic?: 'sending' | 'taken' | 'failed';
  /** Why it could not be sent. */
  problem?: string;
  /** The same in a word or two; and by its code, where a turn failed with it. */
  heading?: string;
  code?: string;
};

/** A queued message. */
export type QueuedMessage = Queued & {
  /** Ours, for which the turn that runs is being stopped. */
  interrupt?: boolean;
};

/** What waits for a running turn, and what is held: shown as chips, not as part of the
 * conversation. */
export function queuedMessages(state: Conversation): QueuedMessage[] {
  const inQueue = new Set(state.queue.map((queued) => queued.uuid));
  const stopping = new Set(state.optimistic.filter((one) => one.interrupt).map(({ uuid }) => uuid));
  const onTheirWay = state.optimistic
    .filter(({ state, uuid }) => state !== 'failed' && state !== 'elsewhere' && !inQueue.has(uuid))
    .filter((pending) => state.turn !== null && state.turn.uuid !== pending.uuid)
    // sent again: it is shown where it failed until the keeper has it
    .filter(({ uuid }) => !state.failed.some((turn) => turn.uuid === uuid && isUnsent(state, turn)))
    .map(({ uuid, text, images }) => ({ uuid, text, state: 'queued' as const, images }));
  const all = [...state.queue, ...onTheirWay];
  if (stopping.size === 0) return all;
  const next = ({ uuid, state: way }: Queued): boolean => way === 'queued' && stopping.has(uuid);
  return [
    ...all.filter(next).map((queued) => ({ ...queued, interrupt: true })),
    ...all.filter((queued) => !next(queued)),
  ];
}

/** The conversation as it is read: what is confirmed, what failed, then what is on its way. */
export function visibleMessages(state: Conversation): readonly VisibleMessage[] {
  const taken = takenByOthers(state);
  if (state.optimistic.length === 0 && state.failed.length === 0 && taken === null) {
    return state.messages;
  }
  const queued = new Set(queuedMessages(state).map((waiting) => waiting.uuid));
  const failed = state.failed.flatMap((turn) => {
    const at = failedTurnIndex(turn, state.messages, state.before !== null);
    return at === null ? [] : [{ at, turn, rendered: renderFailed(state, turn) }];
  });
  const shownUuids = new Set(
    failed.flatMap(({ rendered }) => rendered.map((message) => message.uuid)),
  );
  const own = state.optimistic.filter(
    ({ state: way, uuid }) => way !== 'elsewhere' && !queued.has(uuid) && !shownUuids.has(uuid),
  );
  return [
    ...withFailed(state.messages, failed),
    ...(taken === null ? [] : [visibleMessage(state.sessionId, taken)]),
    ...own.map((pending) => visibleMessage(state.sessionId, pending)),
  ];
}

function withFailed(
  messages: readonly Message[],
  failed: readonly { at: number; turn: FailedTurn; rendered: readonly VisibleMessage[] }[],
): readonly VisibleMessage[] {
  if (failed.length === 0) return messages;
  const all: VisibleMessage[] = [];
  let next = 0;
  for (const { at, turn, rendered } of failed) {
    if (at > next) all.push(...messages.slice(next, at));
    next = Math.max(next, at);
    const last = all.at(-1);
    const isReasonWritten = last?.kind === 'error' && textOf(last.content) === turn.error.message;
    // the transcript says why, behind what was streamed
    if (isReasonWritten)
      all.splice(errorsOf(all), 0, ...writtenBefore(rendered, turn, last.sessionId));
    else all.push(...rendered);
  }
  return [...all, ...messages.slice(next)];
}

function isUnsent({ messages, before }: Conversation, turn: FailedTurn): boolean {
  return turn.prompt !== null && failedTurnIndex(turn, messages, before !== null) !== null;
}

/** What the transcript does not have of a turn that failed, and why it failed. */
function renderFailed(state: Conversation, turn: FailedTurn): readonly VisibleMessage[] {
  const written = messagesOfFailedTurn(turn, state.sessionId, state.messages);
  const isWritten = state.messages.some((message) => message.uuid === turn.uuid);
  const own = state.optimistic.find((pending) => pending.uuid === turn.uuid);
  // the keeper has it again where it lists no prompt: ours is on its way
  const isUnsent = !isWritten && (turn.prompt !== null || own?.state === 'failed');
  const prompt = isUnsent ? (own ?? turn.prompt) : null;
  if (prompt === null) return [...written, reasonMessage(turn, state.sessionId)];
  const bubble = renderPrompt(state.sessionId, prompt, turn);
  // the bubble says why; behind what was streamed nothing else would say that it broke off
  return written.length === 0
    ? [bubble]
    : [bubble, ...written, reasonMessage(turn, state.sessionId)];
}

/** Where the errors begin with which the messages end. */
function errorsOf(messages: readonly VisibleMessage[]): number {
  return messages.findLastIndex((message) => message.kind !== 'error') + 1;
}

function writtenBefore(
  rendered: readonly VisibleMessage[],
  turn: FailedTurn,
  sessionId: string,
): readonly VisibleMessage[] {
  const written = rendered.filter((message) => message.kind !== 'error');
  return written.some((message) => message.role === 'assistant')
    ? [...written, headingMessage(turn, sessionId)]
    : written;
}

const shownPrompts = new WeakMap<object, { turn: FailedTurn; message: VisibleMessage }>();

function renderPrompt(
  sessionId: string,
  { uuid, content }: Pick<OptimisticMessage, 'uuid' | 'content'>,
  turn: FailedTurn,
): VisibleMessage {
  const made = shownPrompts.get(content);
  if (made?.turn === turn) return made.message;
  const { message: problem, code } = turn.error;
  const failed = { optimistic: 'failed', problem, heading: headingOf(turn), code } as const;
  const message = { ...messageOf(sessionId, uuid, content), ...failed };
  shownPrompts.set(content, { turn, message });
  return message;
}

/** What the turn began with, where somebody else said it and Claude has not confirmed it yet. */
function takenByOthers({ taken, turn, optimistic, messages }: Conversation): Queued | null {
  if (taken === null || turn?.uuid !== taken.uuid) return null;
  // a command leaves no prompt behind
  if (taken.text.trim() === '' || taken.text.startsWith('/')) return null;
  if (optimistic.some((pending) => pending.uuid === taken.uuid)) return null;
  const last = messages.findLast((message) => message.uuid === taken.uuid || isTyped(message));
  const here = last && (last.uuid === taken.uuid || textOf(last.content) === taken.text.trim());
  return here ? null : taken;
}

const shownSendings = new WeakMap<OptimisticMessage | Queued, VisibleMessage>();

/** The same object for the same sending: what did not change is not drawn again. */
function visibleMessage(sessionId: string, pending: OptimisticMessage | Queued): VisibleMessage {
  let message = shownSendings.get(pending);
  if (!message) {
    message = asMessage(sessionId, pending);
    shownSendings.set(pending, message);
  }
  return message;
}

function asMessage(sessionId: string, pending: OptimisticMessage | Queued): VisibleMessage {
  const content = 'content' in pending ? pending.content : [{ type: 'text', text: pending.text }];
  return {
    ...messageOf(sessionId, pending.uuid, content),
    ...(pending.state === 'failed'
      ? {
          optimistic: 'failed' as const,
          problem: pending.problem ?? 'It could not be sent.',
        }
      : { optimistic: pending.state === 'taken' ? ('taken' as const) : ('sending' as const) }),
  };
}

function messageOf(sessionId: string, uuid: string, content: readonly Block[]): Message {
  return { ...emptyMessage(sessionId, uuid), content };
}
