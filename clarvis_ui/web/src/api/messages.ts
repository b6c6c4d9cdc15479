/** Messages, and what belongs to a conversation beside them. */

import {
  count,
  type Decoded,
  each,
  type Fields,
  fields,
  fieldsOf,
  flag,
  number,
  oneOf,
  type Raw,
  text,
  verbatim,
} from './decode';
import { readFailedTurn } from './failedTurns';
import type * as Wire from './schema';
import { readSession } from './sessions';

export const KINDS = [
  'prompt',
  'reply',
  'toolResult',
  'command',
  'compaction',
  'interruption',
  'error',
  'notice',
] as const;
export type MessageKind = (typeof KINDS)[number];

export const ROLES = ['user', 'assistant', 'system'] as const;
export type Role = (typeof ROLES)[number];

/** Whose decision it was that a call was not made. */
export const DENIERS = ['person', 'rule'] as const;
export type Denier = (typeof DENIERS)[number];

export const PARTIAL_KINDS = ['text', 'thinking', 'input'] as const;
export type PartialKind = (typeof PARTIAL_KINDS)[number];

/** `held`: a person stopped what it waited for; it is said once somebody sends it on. */
export const QUEUE_STATES = ['queued', 'held', 'taken', 'cancelled'] as const;
export type QueueState = (typeof QUEUE_STATES)[number];

/** The statuses that the page shows; it skips others. */
export const STATUSES = [
  'working',
  'retrying',
  'compacting',
  'rateLimited',
  'taskStarted',
  'taskProgress',
  'taskUpdated',
  'taskEnded',
] as const;

/** A content block as Claude Code wrote it: whoever shows it looks into it, and trusts nothing. */
export type Block = Fields & { readonly type: string };
/** Of the API, in the page's names. */
export type Usage = Decoded<typeof readUsage>;
export type Message = Decoded<typeof readMessage>;
/** The block that is being written, so far. */
export type Partial = Decoded<typeof readPartial>;
/** What a turn says about itself; details differ from status to status. */
export type TurnStatus = Decoded<typeof readStatus>;
/** The turn that runs now. */
export type Turn = Decoded<typeof readTurn>;
/** A prompt that waits for the turn before it. */
export type Queued = Decoded<typeof readQueued>;
/** The same as it was sent, images included. */
export type WaitingMessage = Decoded<typeof readWaitingMessage>;
/** A branch that a rewind left, and the message at which it departs. */
export type BranchPoint = Decoded<typeof readBranchPoint>;
export type ConversationPage = Decoded<typeof readConversationPage>;

function readBlock(raw: unknown): Block | null {
  const block = fields(raw);
  return block && typeof block.type === 'string' ? (block as Block) : null;
}

function readUsage(raw: unknown) {
  const usage = fields(raw);
  return (
    usage && {
      input: count(usage.input_tokens),
      output: count(usage.output_tokens),
      cacheRead: count(usage.cache_read_input_tokens),
      cacheWrite: count(usage.cache_creation_input_tokens),
    }
  );
}

/** Content as it is sent: words alone, or blocks. */
export function readContent(raw: unknown): Block[] {
  return typeof raw === 'string' ? [{ type: 'text', text: raw }] : each(raw, readBlock);
}

/** Null only where there is no uuid: such a message could not be told from another. */
export function readMessage(raw: unknown) {
  const message = fieldsOf<Wire.Message>(raw);
  const uuid = text(message?.uuid);
  if (!message || !uuid) return null;
  return {
    uuid,
    sessionId: verbatim(message.sessionId),
    role: oneOf(ROLES, message.role) ?? ('system' as const),
    content: readContent(message.content) as readonly Block[],
    timestamp: text(message.timestamp),
    kind: oneOf(KINDS, message.kind) ?? ('notice' as const),
    /** Shared by the messages that are blocks of one reply. */
    messageId: text(message.messageId),
    parentUuid: text(message.parentUuid),
    model: text(message.model),
    usage: readUsage(message.usage),
    agentId: text(message.agentId),
    parentToolUseId: text(message.parentToolUseId),
    /** Which branch it is on; null for the conversation as it stands. */
    branch: text(message.branch),
    /** Of a call that was not made. */
    deniedBy: oneOf(DENIERS, message.deniedBy),
  };
}

export function readPartial(raw: unknown) {
  const block = fieldsOf<Wire.PartialBlock>(raw);
  const messageId = text(block?.messageId);
  if (!block || !messageId) return null;
  return {
    messageId,
    index: count(block.index),
    kind: oneOf(PARTIAL_KINDS, block.kind) ?? ('text' as const),
    text: verbatim(block.text),
    /** For kind `input`: which tool is going to be called. */
    tool: text(block.tool),
    toolUseId: text(block.toolUseId),
  };
}

/** The words of an error, whether it is a string or an object. */
export function sentenceOf(raw: unknown): string | null {
  return text(raw) ?? text(fields(raw)?.message);
}

export function readStatus(raw: unknown) {
  const turn = fieldsOf<Wire.TurnStatus>(raw);
  const status = oneOf(STATUSES, text(turn?.status));
  if (!turn || !status) return null;
  return {
    status,
    attempt: number(turn.attempt),
    maxRetries: number(turn.maxRetries),
    delayMs: number(turn.delayMs),
    error: sentenceOf(turn.error),
    taskId: text(turn.taskId),
    description: text(turn.description),
  };
}

function readTurn(raw: Raw<Wire.CurrentTurnView> | undefined) {
  const turn = fields(raw);
  return (
    turn && {
      /** Of the prompt that began it. */
      uuid: text(turn.uuid),
      started: text(turn.started),
      status: readStatus(turn.status),
    }
  );
}

export function readQueued(raw: Raw<Wire.QueuedPrompt>) {
  const prompt = fields(raw);
  const uuid = text(prompt?.uuid);
  if (!prompt || !uuid) return null;
  return {
    uuid,
    text: verbatim(prompt.text),
    state: oneOf(QUEUE_STATES, prompt.state) ?? ('queued' as const),
    images: count(prompt.images),
  };
}

function readWaitingMessage(raw: Raw<Wire.QueueEntry>) {
  const entry = fields(raw);
  const uuid = text(entry?.uuid);
  return entry && uuid ? { uuid, content: each<Block, unknown>(entry.content, readBlock) } : null;
}

export function readWaiting(raw: unknown): WaitingMessage[] | null {
  const list = fieldsOf<Wire.QueueList>(raw);
  return list && Array.isArray(list.messages) ? each(list.messages, readWaitingMessage) : null;
}

function readBranchPoint(raw: Raw<Wire.BranchPoint>) {
  const branch = fields(raw);
  const id = text(branch?.id);
  return branch && id ? { id, at: text(branch.at) } : null;
}

/** What is held is in the queue, and not part of the interrupted turn. */
function readInterruptedUuid(raw: Raw<Wire.QueuedMessage>): string | null {
  const message = fields(raw);
  return flag(message?.held) ? null : text(message?.uuid);
}

/** A page of a session. */
export function readConversationPage(raw: unknown) {
  const page = fieldsOf<Wire.HistoryPage>(raw);
  const session = readSession(page?.session);
  if (!page || !session) return null;
  return {
    session,
    messages: each(page.messages, readMessage),
    /** Leads to the page above; null at the beginning. */
    before: text(page.before),
    branches: each(page.branches, readBranchPoint),
    queue: each(page.queue, readQueued),
    partial: readPartial(page.partial),
    turn: readTurn(page.turn),
    /** Turns that did not come to their end; null from a keeper that does not say. */
    failed: Array.isArray(page.failed) ? each(page.failed, readFailedTurn) : null,
    /** What waited behind an interrupted turn, by uuid: it is said once that goes on. */
    interruptedQueue: each(fields(page.interrupted)?.queue, readInterruptedUuid),
    position: text(page.position),
  };
}
