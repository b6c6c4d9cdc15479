import type { FailedTurn, TurnError } from '../api/failedTurns';
import type { Message, Partial, Queued } from '../api/messages';
import { isFinalOf, partialInput } from './finalMessage';

/** Turns that did not come to their end: facts of the conversation, like its messages. Pure. */

/** What this page knows by itself, until the keeper says what is left of the turn. */
export function withFailedTurn(
  failed: readonly FailedTurn[],
  uuid: string | null,
  error: TurnError,
  partial: Partial | null,
  taken: Queued | null,
  messages: readonly Message[],
): readonly FailedTurn[] {
  const blocks = partial === null ? [] : [partial];
  const content = [{ type: 'text', text: taken?.text ?? '' }];
  const prompt = uuid !== null && taken?.uuid === uuid && taken.text ? { uuid, content } : null;
  const had = blocks.length > 0 || messages.some((message) => message.uuid === uuid);
  const behind = messages.at(-1)?.uuid;
  return [...failed, { uuid, ended: null, behind, error, had, prompt, messages: [], blocks }];
}

/** A prompt that waits, runs or was taken back is no longer one that was not said. */
export function withoutPrompt(
  failed: readonly FailedTurn[],
  uuids: readonly (string | null)[],
): readonly FailedTurn[] {
  const gone = (turn: FailedTurn) => turn.uuid !== null && uuids.includes(turn.uuid);
  if (!failed.some((turn) => gone(turn) && (turn.prompt !== null || !hasWords(turn))))
    return failed;
  return failed
    .map((turn) => (gone(turn) ? { ...turn, prompt: null } : turn))
    .filter((turn) => !gone(turn) || hasWords(turn));
}

function hasWords({ messages, blocks }: FailedTurn): boolean {
  return messages.length > 0 || blocks.length > 0;
}

/** Where it stands among the messages; null where that is further up than what is loaded. */
export function failedTurnIndex(
  { uuid, ended, behind }: FailedTurn,
  messages: readonly Message[],
  hasOlder: boolean,
): number | null {
  const last = ended === null ? messages.findLastIndex((message) => message.uuid === behind) : -1;
  const next = messages.findIndex(
    (message, at) =>
      (isAsked(message) || isFiller(message)) &&
      message.branch === null &&
      message.parentToolUseId === null &&
      (ended === null
        ? at > last && message.uuid !== uuid
        : message.timestamp !== null && message.timestamp > ended),
  );
  if (next < 0) return messages.length;
  return next === 0 && hasOlder ? null : next;
}

function isAsked({ role, kind }: Message): boolean {
  return role === 'user' && (kind === 'prompt' || kind === 'command');
}

/** Of a turn that was cut off, Claude Code writes in Claude's place that nothing is to be said. */
function isFiller({ kind, model }: Message): boolean {
  return kind === 'reply' && model === '<synthetic>';
}

const PREFIX = 'failed/';

/** Whether this is no message of the transcript: nothing leads to it, and nothing goes on from it. */
export function isUnwritten(uuid: string): boolean {
  return uuid.startsWith(PREFIX);
}

/** What Claude had said in it, as messages; `known`: those of the transcript. */
export function messagesOfFailedTurn(
  turn: FailedTurn,
  sessionId: string,
  messages: readonly Message[],
): readonly Message[] {
  const here = new Set(messages.map((message) => message.uuid));
  const whole = turn.messages.filter((message) => !here.has(message.uuid));
  const cut = turn.blocks.filter(
    (block) => !messages.some((one) => isFinalOf(one, block, messages)),
  );
  return [
    ...whole.map((message) => once(message, () => ({ ...message, uuid: PREFIX + message.uuid }))),
    ...cut.map((block) => once(block, () => blockAsMessage(block, sessionId))),
  ];
}

function blockAsMessage(block: Partial, sessionId: string): Message {
  const { messageId, index, kind, text, tool, toolUseId } = block;
  const content = {
    text: { type: 'text', text },
    thinking: { type: 'thinking', thinking: text },
    input: {
      type: 'tool_use',
      id: toolUseId ?? `${messageId}/${index}`,
      name: tool ?? 'Tool',
      input: partialInput(text),
    },
  }[kind];
  return {
    ...lineOf(sessionId, `${messageId}/${index}`),
    role: 'assistant',
    kind: 'reply',
    content: [content],
    messageId,
  };
}

/** That the turn was not finished, and why: a line behind what was said in it. */
export function reasonMessage(turn: FailedTurn, sessionId: string): Message {
  return once(turn, () => {
    const text = `${headingOf(turn)} ${turn.error.message}`;
    return {
      ...lineOf(sessionId, `${turn.uuid}/${turn.ended}`),
      content: [{ type: 'text', text }],
    };
  });
}

/** The same without the reason, where the transcript says that. */
export function headingMessage(turn: FailedTurn, sessionId: string): Message {
  return once(turn.error, () => ({
    ...lineOf(sessionId, `${turn.uuid}/${turn.ended}`),
    content: [{ type: 'text', text: headingOf(turn) }],
  }));
}

const made = new WeakMap<object, Message>();

/** The same message for the same thing: what did not change is not drawn again. */
function once(of: object, make: () => Message): Message {
  let message = made.get(of);
  if (!message) {
    message = make();
    made.set(of, message);
  }
  return message;
}

const UNWRITTEN = 'transcript_unwritten';

export function headingOf({ error, had }: FailedTurn): string {
  if (error.code === UNWRITTEN) return 'Not written down.';
  return had ? 'Cut off.' : 'Not sent.';
}

function lineOf(sessionId: string, id: string): Message {
  return { ...emptyMessage(sessionId, `${PREFIX}${id}`), role: 'assistant', kind: 'error' };
}

/** A prompt without words: what the page shows and no transcript has is made from it. */
export function emptyMessage(sessionId: string, uuid: string): Message {
  return {
    uuid,
    sessionId,
    role: 'user',
    content: [],
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
  };
}
