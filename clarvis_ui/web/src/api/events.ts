/** What comes over the socket. */

import { type Attention, DECISIONS, type Decision, readAttention } from './attention';
import { each, type Fields, fields, number, oneOf, text } from './decode';
import { readTrouble, type Trouble } from './failedTurns';
import {
  type Message,
  type PartialKind,
  type Queued,
  readMessage,
  readPartial,
  readQueued,
  readStatus,
  sentenceOf,
  type TurnStatus,
} from './messages';
import { readSession, type Session } from './sessions';

/** Where in the keeper's stream something stands: `epoch` changes when the keeper restarts. */
export interface Position {
  epoch: string;
  seq: number;
}

export const OUTCOMES = ['done', 'interrupted', 'failed'] as const;
export type TurnOutcome = (typeof OUTCOMES)[number];

interface Told {
  position: Position | null;
  sessionId: string;
}

export type SessionUpdated = Told & { type: 'session/updated'; session: Session };
export type SessionRemoved = Told & { type: 'session/removed' };
export type MessageAdded = Told & {
  type: 'message/added';
  message: Message;
  /** The message it stands behind; null: at the end. */
  after: string | null;
};
export type MessageDelta = Told & {
  type: 'message/delta';
  messageId: string;
  index: number;
  kind: PartialKind;
  text: string;
  tool: string | null;
  toolUseId: string | null;
};
/** What streamed of this block is no part of the conversation: it is begun again. */
export type MessageWithdrawn = Told & {
  type: 'message/withdrawn';
  messageId: string;
  index: number;
};
export type TurnStarted = Told & { type: 'turn/started'; uuid: string | null };
export type TurnStatusTold = Told & { type: 'turn/status'; status: TurnStatus };
export type TurnFinished = Told & {
  type: 'turn/finished';
  uuid: string | null;
  outcome: TurnOutcome;
  error: string | null;
  costUsd: number | null;
  durationMs: number | null;
};
export type QueueUpdated = Told & { type: 'queue/updated'; queue: Queued[] };
export type AttentionRaised = Told & { type: 'attention/raised'; attention: Attention };
export type AttentionSettled = Told & {
  type: 'attention/settled';
  attentionId: string;
  decision: Decision;
  by: string | null;
};
export type SessionFailed = Told & { type: 'session/failed'; uuid: string | null; error: Trouble };

/** Something happened where somebody else runs the session. */
export type SessionNotified = Told & {
  type: 'session/notified';
  event: string;
  text: string | null;
  reason: string | null;
};

export type KeeperEvent =
  | SessionUpdated
  | SessionRemoved
  | MessageAdded
  | MessageDelta
  | MessageWithdrawn
  | TurnStarted
  | TurnStatusTold
  | TurnFinished
  | QueueUpdated
  | AttentionRaised
  | AttentionSettled
  | SessionFailed
  | SessionNotified;

export type Frame =
  | { type: 'hello'; position: Position | null }
  | { type: 'subscribed' }
  /** What was told does not hold any more: of one session, or of all. */
  | { type: 'resync'; sessionId: string | null }
  | { type: 'pong' }
  | { type: 'event'; event: KeeperEvent };

export function readPosition(raw: unknown): Position | null {
  const parts = /^(.+):(\d+)$/.exec(typeof raw === 'string' ? raw : '');
  return parts ? { epoch: parts[1] as string, seq: Number(parts[2]) } : null;
}

/** Null for what this page does not know: a newer keeper may tell more. */
export function readFrame(data: unknown): Frame | null {
  let given: Fields | null;
  try {
    given = fields(JSON.parse(String(data)));
  } catch {
    return null;
  }
  switch (given?.type) {
    case 'hello':
      return { type: 'hello', position: readPosition(given.position) };
    case 'resync':
      return { type: 'resync', sessionId: text(given.sessionId) };
    case 'subscribed':
    case 'pong':
      return { type: given.type };
    default: {
      const event = given && readEvent(given);
      return event && { type: 'event', event };
    }
  }
}

export function readEvent(given: Fields): KeeperEvent | null {
  const told = { position: readPosition(given.position), sessionId: text(given.sessionId) ?? '' };
  switch (given.type) {
    case 'session/updated': {
      const session = readSession(given.session);
      return session && { ...told, sessionId: session.id, type: given.type, session };
    }
    case 'session/removed': {
      const sessionId = told.sessionId || readSession(given.session)?.id;
      return sessionId ? { ...told, sessionId, type: given.type } : null;
    }
    case 'message/added': {
      const message = readMessage(given.message);
      if (!message) return null;
      const sessionId = told.sessionId || message.sessionId;
      return { ...told, sessionId, type: given.type, message, after: text(given.after) };
    }
    case 'message/delta': {
      const piece = readPartial(given);
      return piece && { ...told, type: given.type, ...piece };
    }
    case 'message/withdrawn': {
      const [messageId, index] = [text(given.messageId), number(given.index)];
      return messageId === null || index === null
        ? null
        : { ...told, type: given.type, messageId, index };
    }
    case 'turn/started':
      return { ...told, type: given.type, uuid: text(given.uuid) };
    case 'turn/status': {
      const status = readStatus(given);
      return status && { ...told, type: given.type, status };
    }
    case 'turn/finished':
      return {
        ...told,
        type: given.type,
        uuid: text(given.uuid),
        outcome: oneOf(OUTCOMES, given.outcome) ?? 'done',
        error: sentenceOf(given.error),
        costUsd: number(given.costUsd),
        durationMs: number(given.durationMs),
      };
    case 'queue/updated':
      return { ...told, type: given.type, queue: each(given.queue, readQueued) };
    case 'attention/raised': {
      const attention = readAttention(given.attention);
      return attention && { ...told, sessionId: attention.sessionId, type: given.type, attention };
    }
    case 'attention/settled': {
      const attentionId = text(given.attentionId);
      if (!attentionId) return null;
      const decision = oneOf(DECISIONS, given.decision) ?? 'withdrawn';
      return { ...told, type: given.type, attentionId, decision, by: text(given.by) };
    }
    case 'session/notified':
      return {
        ...told,
        type: given.type,
        event: text(given.event) ?? '',
        text: text(given.text),
        reason: text(given.reason),
      };
    case 'session/failed':
      return {
        ...told,
        type: given.type,
        uuid: text(given.uuid),
        error: readTrouble(given.error),
      };
    default:
      return null;
  }
}
