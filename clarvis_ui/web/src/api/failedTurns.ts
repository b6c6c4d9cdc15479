/** Turns that did not come to their end, as the wire contract has them. */

import { each, fields, text } from './decode';
import {
  type Block,
  type Message,
  type Partial,
  readContent,
  readMessage,
  readPartial,
  sentenceOf,
} from './messages';

export interface Trouble {
  code: string;
  message: string;
}

/** What no transcript has of a turn that failed, and why it did. */
export interface FailedTurn {
  /** Of the prompt; null for a turn that nobody asked for. */
  uuid: string | null;
  /** When it ended, by the keeper's clock; null where only this page knows of it. */
  ended: string | null;
  /** Then: the last message at that time, by uuid. */
  behind?: string | undefined;
  error: Trouble;
  /** Whether Claude had the prompt. */
  had: boolean;
  /** The prompt, while no transcript has it. */
  prompt: { uuid: string; content: readonly Block[] } | null;
  /** Whole messages, and blocks that were cut off in the middle. */
  messages: readonly Message[];
  blocks: readonly Partial[];
}

export function readTrouble(raw: unknown): Trouble {
  return {
    code: text(fields(raw)?.code) ?? 'unknown',
    message: sentenceOf(raw) ?? 'Claude Code ended unexpectedly.',
  };
}

export function readFailedTurn(raw: unknown): FailedTurn | null {
  const given = fields(raw);
  if (!given) return null;
  const prompt = fields(given.prompt);
  const uuid = text(prompt?.uuid);
  return {
    uuid: text(given.uuid),
    ended: text(given.ended),
    error: readTrouble(given.error),
    had: given.had === true,
    prompt: uuid === null ? null : { uuid, content: readContent(prompt?.content) },
    messages: each(given.messages, readMessage),
    blocks: each(given.blocks, readPartial),
  };
}
