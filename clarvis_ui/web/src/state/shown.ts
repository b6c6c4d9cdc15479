import type { Message, Queued } from '../transport/messages';
import type { Conversation } from './conversation';
import { isTyped, type Sending, wordsOf } from './sending';

/** A conversation as it is read: what is confirmed, what is on its way, what waits. */

/** A message as it is shown: one of our own stands there before the keeper has confirmed it. */
export type ShownMessage = Message & {
  /** `taken`: somebody else's, which Claude has not confirmed. */
  optimistic?: 'sending' | 'taken' | 'failed';
  /** Why it could not be sent. */
  problem?: string;
};

/** A message in line. */
export type Waiting = Queued & {
  /** Ours, for which the turn that runs is being stopped. */
  interrupt?: boolean;
};

/** What waits for a running turn, and what is held: shown as chips, not as part of the
 * conversation. */
export function inLine(state: Conversation): Waiting[] {
  const known = new Set(state.queue.map((queued) => queued.uuid));
  const stopping = new Set(state.sendings.filter((one) => one.interrupt).map(({ uuid }) => uuid));
  const onTheirWay = state.sendings
    .filter(({ state, uuid }) => state !== 'failed' && state !== 'elsewhere' && !known.has(uuid))
    .filter((sending) => state.turn !== null && state.turn.uuid !== sending.uuid)
    .map(({ uuid, text, images }) => ({ uuid, text, state: 'queued' as const, images }));
  const all = [...state.queue, ...onTheirWay];
  if (stopping.size === 0) return all;
  const next = ({ uuid, state: way }: Queued): boolean => way === 'queued' && stopping.has(uuid);
  return [
    ...all.filter(next).map((queued) => ({ ...queued, interrupt: true })),
    ...all.filter((queued) => !next(queued)),
  ];
}

/** The conversation as it is read: what is confirmed, then what is on its way. */
export function shownMessages(state: Conversation): readonly ShownMessage[] {
  const taken = takenByOthers(state);
  if (state.sendings.length === 0 && taken === null) return state.messages;
  const queued = new Set(inLine(state).map((waiting) => waiting.uuid));
  const own = state.sendings.filter(
    (sending) => sending.state !== 'elsewhere' && !queued.has(sending.uuid),
  );
  return [
    ...state.messages,
    ...(taken === null ? [] : [shown(state.sessionId, taken)]),
    ...own.map((sending) => shown(state.sessionId, sending)),
  ];
}

/** Why it broke down; where the last line of the conversation says so, that is enough. */
export function failureToTell({ failure, messages }: Conversation): string | null {
  const last = messages.at(-1);
  const isSaid = last?.kind === 'error' && wordsOf(last.content) === failure?.message;
  return isSaid ? null : (failure?.message ?? null);
}

/** What the turn began with, where somebody else said it and Claude has not confirmed it yet. */
function takenByOthers({ taken, turn, sendings, messages }: Conversation): Queued | null {
  if (taken === null || turn?.uuid !== taken.uuid) return null;
  // a command leaves no prompt behind
  if (taken.text.trim() === '' || taken.text.startsWith('/')) return null;
  if (sendings.some((sending) => sending.uuid === taken.uuid)) return null;
  const said = messages.findLast((message) => message.uuid === taken.uuid || isTyped(message));
  const here = said && (said.uuid === taken.uuid || wordsOf(said.content) === taken.text.trim());
  return here ? null : taken;
}

const shownSendings = new WeakMap<Sending | Queued, ShownMessage>();

/** The same object for the same sending: what did not change is not drawn again. */
function shown(sessionId: string, sending: Sending | Queued): ShownMessage {
  let message = shownSendings.get(sending);
  if (!message) {
    message = asMessage(sessionId, sending);
    shownSendings.set(sending, message);
  }
  return message;
}

function asMessage(sessionId: string, sending: Sending | Queued): ShownMessage {
  return {
    uuid: sending.uuid,
    sessionId,
    role: 'user',
    content: 'content' in sending ? sending.content : [{ type: 'text', text: sending.text }],
    timestamp: null,
    kind: 'prompt',
    messageId: null,
    parentUuid: null,
    model: null,
    usage: null,
    agentId: null,
    parentToolUseId: null,
    branch: null,
    deniedBy: null,
    ...(sending.state === 'failed'
      ? {
          optimistic: 'failed' as const,
          problem: sending.problem ?? 'It could not be sent.',
        }
      : { optimistic: sending.state === 'taken' ? ('taken' as const) : ('sending' as const) }),
  };
}
