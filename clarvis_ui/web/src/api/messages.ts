/** Messages and what belongs to a conversation, as the wire contract has them. */

import { each, type Fields, fields, number, oneOf, text, verbatim } from './decode';
import { type FailedTurn, readFailedTurn } from './failedTurns';
import { readSession, type Session } from './sessions';

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

/** A content block as Claude Code wrote it: whoever shows it looks into it, and trusts nothing. */
export type Block = Fields & { readonly type: string };

/** Who did not want a call to be made. */
export const DENIERS = ['person', 'rule'] as const;
export type Denier = (typeof DENIERS)[number];

export interface Usage {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

export interface Message {
  uuid: string;
  sessionId: string;
  role: Role;
  content: readonly Block[];
  timestamp: string | null;
  kind: MessageKind;
  /** Shared by the messages that are blocks of one reply. */
  messageId: string | null;
  parentUuid: string | null;
  model: string | null;
  usage: Usage | null;
  agentId: string | null;
  parentToolUseId: string | null;
  /** Which abandoned branch it lies on; null for the conversation as it stands. */
  branch: string | null;
  /** Of a call that was not made. */
  deniedBy: Denier | null;
}

export const PARTIAL_KINDS = ['text', 'thinking', 'input'] as const;
export type PartialKind = (typeof PARTIAL_KINDS)[number];

/** The block that is being streamed, as far as it was told. */
export interface Partial {
  messageId: string;
  index: number;
  kind: PartialKind;
  text: string;
  /** For kind `input`: which tool is going to be called. */
  tool: string | null;
  toolUseId: string | null;
}

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

/** What a turn says about itself; details differ from status to status. */
export interface TurnStatus {
  status: (typeof STATUSES)[number];
  attempt: number | null;
  maxRetries: number | null;
  delayMs: number | null;
  error: string | null;
  taskId: string | null;
  description: string | null;
}

/** The turn that runs now. */
export interface Turn {
  /** Of the prompt that began it. */
  uuid: string | null;
  started: string | null;
  status: TurnStatus | null;
}

/** `held`: a person stopped what it waited for; it is said once somebody sends it on. */
export const QUEUE_STATES = ['queued', 'held', 'taken', 'cancelled'] as const;
export type QueueState = (typeof QUEUE_STATES)[number];

/** A prompt that waits for the turn before it. */
export interface Queued {
  uuid: string;
  text: string;
  state: QueueState;
  images: number;
}

/** The same as it was sent, images included. */
export interface WaitingMessage {
  uuid: string;
  content: Block[];
}

/** A conversation left behind by a rewind, and the message at which it departs. */
export interface Departure {
  id: string;
  at: string | null;
}

/** A page of a session. */
export interface ConversationPage {
  session: Session;
  messages: Message[];
  /** Leads to the page above; null at the beginning. */
  before: string | null;
  branches: Departure[];
  queue: Queued[];
  partial: Partial | null;
  turn: Turn | null;
  /** Turns that did not come to their end; null where the keeper does not say. */
  failed: FailedTurn[] | null;
  /** What waited behind a turn that was cut off, by uuid: it is said once that goes on. */
  kept: string[];
  position: string | null;
}

function readBlock(raw: unknown): Block | null {
  const given = fields(raw);
  return given && typeof given.type === 'string' ? (given as Block) : null;
}

function readUsage(raw: unknown): Usage | null {
  const given = fields(raw);
  return (
    given && {
      input: number(given.input_tokens) ?? 0,
      output: number(given.output_tokens) ?? 0,
      cacheRead: number(given.cache_read_input_tokens) ?? 0,
      cacheWrite: number(given.cache_creation_input_tokens) ?? 0,
    }
  );
}

/** Content as it is sent: words alone, or blocks. */
export function readContent(raw: unknown): Block[] {
  return typeof raw === 'string' ? [{ type: 'text', text: raw }] : each(raw, readBlock);
}

/** Null only where there is no uuid: such a message could not be told from another. */
export function readMessage(raw: unknown): Message | null {
  const given = fields(raw);
  const uuid = given && text(given.uuid);
  if (!given || !uuid) return null;
  return {
    uuid,
    sessionId: text(given.sessionId) ?? '',
    role: oneOf(ROLES, given.role) ?? 'system',
    content: readContent(given.content),
    timestamp: text(given.timestamp),
    kind: oneOf(KINDS, given.kind) ?? 'notice',
    messageId: text(given.messageId),
    parentUuid: text(given.parentUuid),
    model: text(given.model),
    usage: readUsage(given.usage),
    agentId: text(given.agentId),
    parentToolUseId: text(given.parentToolUseId),
    branch: text(given.branch),
    deniedBy: oneOf(DENIERS, given.deniedBy) ?? null,
  };
}

export function readPartial(raw: unknown): Partial | null {
  const given = fields(raw);
  const messageId = given && text(given.messageId);
  if (!given || !messageId) return null;
  return {
    messageId,
    index: number(given.index) ?? 0,
    kind: oneOf(PARTIAL_KINDS, given.kind) ?? 'text',
    text: verbatim(given.text),
    tool: text(given.tool),
    toolUseId: text(given.toolUseId),
  };
}

/** The words of an error, whether it is told as a string or as an object. */
export function sentenceOf(raw: unknown): string | null {
  return text(raw) ?? text(fields(raw)?.message);
}

export function readStatus(raw: unknown): TurnStatus | null {
  const given = fields(raw);
  const status = given && oneOf(STATUSES, given.status);
  if (!given || !status) return null;
  return {
    status,
    attempt: number(given.attempt),
    maxRetries: number(given.maxRetries),
    delayMs: number(given.delayMs),
    error: sentenceOf(given.error),
    taskId: text(given.taskId),
    description: text(given.description),
  };
}

export function readTurn(raw: unknown): Turn | null {
  const given = fields(raw);
  return (
    given && {
      uuid: text(given.uuid),
      started: text(given.started),
      status: readStatus(given.status),
    }
  );
}

export function readQueued(raw: unknown): Queued | null {
  const given = fields(raw);
  const uuid = given && text(given.uuid);
  if (!given || !uuid) return null;
  return {
    uuid,
    text: verbatim(given.text),
    state: oneOf(QUEUE_STATES, given.state) ?? 'queued',
    images: number(given.images) ?? 0,
  };
}

function readWaitingMessage(raw: unknown): WaitingMessage | null {
  const given = fields(raw);
  const uuid = given && text(given.uuid);
  return given && uuid ? { uuid, content: each(given.content, readBlock) } : null;
}

export function readWaiting(raw: unknown): WaitingMessage[] | null {
  const given = fields(raw);
  return given && Array.isArray(given.messages) ? each(given.messages, readWaitingMessage) : null;
}

function readDeparture(raw: unknown): Departure | null {
  const given = fields(raw);
  const id = given && text(given.id);
  return given && id ? { id, at: text(given.at) } : null;
}

/** What is held is in line. */
function readKept(raw: unknown): string | null {
  const given = fields(raw);
  return given?.held === true ? null : text(given?.uuid);
}

export function readConversationPage(raw: unknown): ConversationPage | null {
  const given = fields(raw);
  const session = given && readSession(given.session);
  if (!given || !session) return null;
  return {
    session,
    messages: each(given.messages, readMessage),
    before: text(given.before),
    branches: each(given.branches, readDeparture),
    queue: each(given.queue, readQueued),
    partial: readPartial(given.partial),
    turn: readTurn(given.turn),
    failed: Array.isArray(given.failed) ? each(given.failed, readFailedTurn) : null,
    kept: each(fields(given.interrupted)?.queue, readKept),
    position: text(given.position),
  };
}
