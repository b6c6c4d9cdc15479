/** Failed turns: what no transcript has of a turn that broke off. */

import { type Decoded, each, fields, fieldsOf, flag, text } from './decode';
import { type Block, readContent, readMessage, readPartial, sentenceOf } from './messages';
import type * as Wire from './schema';

export type TurnError = Decoded<typeof readTurnError>;

/** The page makes one itself as it hears that a turn failed. */
export type FailedTurn = Readonly<Decoded<typeof readFailedTurn>> & {
  /** The last message at that time, by uuid. */
  behind?: string | undefined;
};

export function readTurnError(raw: unknown) {
  return {
    code: text(fieldsOf<Wire.Fault>(raw)?.code) ?? 'unknown',
    message: sentenceOf(raw) ?? 'Claude Code ended unexpectedly.',
  };
}

export function readFailedTurn(raw: unknown) {
  const turn = fieldsOf<Wire.FailedTurn>(raw);
  if (!turn) return null;
  const prompt = fields(turn.prompt);
  const uuid = text(prompt?.uuid);
  return {
    /** Of the prompt; null for a turn that nobody asked for. */
    uuid: text(turn.uuid),
    /** When it ended, by the keeper's clock; null where only this page knows of it. */
    ended: text(turn.ended),
    error: readTurnError(turn.error),
    /** Whether Claude had the prompt. */
    had: flag(turn.had),
    /** The prompt, while no transcript has it. */
    prompt:
      uuid === null ? null : { uuid, content: readContent(prompt?.content) as readonly Block[] },
    /** Whole messages, and blocks that were cut off in the middle. */
    messages: each(turn.messages, readMessage),
    blocks: each(turn.blocks, readPartial),
  };
}
