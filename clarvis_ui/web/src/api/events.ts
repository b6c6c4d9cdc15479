/** The frames of the socket, and the events among them. */

import { DECISIONS, readAttention } from './attention';
import {
  type Decoded,
  each,
  type Fields,
  fields,
  fieldsOf,
  number,
  oneOf,
  text,
  verbatim,
} from './decode';
import { readTurnError } from './failedTurns';
import { readMessage, readPartial, readQueued, readStatus, sentenceOf } from './messages';
import type * as Wire from './schema';
import { readSession } from './sessions';

/** Where in the stream of events something stands: `epoch` changes when the keeper restarts. */
export interface Position {
  epoch: string;
  seq: number;
}

export const OUTCOMES = ['done', 'interrupted', 'failed'] as const;
export type TurnOutcome = (typeof OUTCOMES)[number];

type EventType = Wire.ServerEvent['type'];
/** `resync` is a frame of its own here, and the page shows no conversations of work items. */
type Unread = 'resync' | 'conversation/updated';

const EVENTS = {
  'session/updated': (raw: unknown) => {
    const session = readSession(fieldsOf<Wire.SessionUpdated>(raw)?.session);
    return session && { sessionId: session.id, session };
  },
  'session/removed': (raw: unknown) => {
    const sessionId = text(fieldsOf<Wire.SessionRemoved>(raw)?.sessionId);
    return sessionId === null ? null : { sessionId };
  },
  'message/added': (raw: unknown) => {
    const event = fieldsOf<Wire.MessageAdded>(raw);
    const message = readMessage(event?.message);
    if (!event || !message) return null;
    const sessionId = text(event.sessionId) ?? message.sessionId;
    /** `after`: the message it stands behind; null: at the end. */
    return { sessionId, message, after: text(event.after) };
  },
  'message/delta': readPartial,
  /** What streamed of this block is no part of the conversation: it is begun again. */
  'message/withdrawn': (raw: unknown) => {
    const event = fieldsOf<Wire.MessageWithdrawn>(raw);
    const [messageId, index] = [text(event?.messageId), number(event?.index)];
    return messageId === null || index === null ? null : { messageId, index };
  },
  'turn/started': (raw: unknown) => ({ uuid: text(fieldsOf<Wire.TurnStarted>(raw)?.uuid) }),
  'turn/status': (raw: unknown) => {
    const status = readStatus(raw);
    return status && { status };
  },
  'turn/finished': (raw: unknown) => {
    const event = fieldsOf<Wire.TurnFinished>(raw);
    return {
      uuid: text(event?.uuid),
      outcome: oneOf(OUTCOMES, event?.outcome) ?? ('done' as const),
      error: sentenceOf(event?.error),
      costUsd: number(event?.costUsd),
      durationMs: number(event?.durationMs),
    };
  },
  'queue/updated': (raw: unknown) => ({
    queue: each(fieldsOf<Wire.QueueUpdated>(raw)?.queue, readQueued),
  }),
  'attention/raised': (raw: unknown) => {
    const attention = readAttention(fieldsOf<Wire.AttentionRaised>(raw)?.attention);
    return attention && { sessionId: attention.sessionId, attention };
  },
  'attention/settled': (raw: unknown) => {
    const event = fieldsOf<Wire.AttentionSettled>(raw);
    const attentionId = text(event?.attentionId);
    if (!event || !attentionId) return null;
    const decision = oneOf(DECISIONS, event.decision) ?? ('withdrawn' as const);
    return { attentionId, decision, by: text(event.by) };
  },
  /** Something happened where somebody else runs the session. */
  'session/notified': (raw: unknown) => {
    const event = fieldsOf<Wire.SessionNotified>(raw);
    return { event: verbatim(event?.event), text: text(event?.text), reason: text(event?.reason) };
  },
  'session/failed': (raw: unknown) => {
    const event = fieldsOf<Wire.SessionFailed>(raw);
    return { uuid: text(event?.uuid), error: readTurnError(event?.error) };
  },
} satisfies Record<Exclude<EventType, Unread>, (raw: unknown) => object | null>;

export const EVENT_TYPES = Object.keys(EVENTS) as (keyof typeof EVENTS)[];

export type EventOf<Type extends keyof typeof EVENTS> = {
  type: Type;
  position: Position | null;
  sessionId: string;
} & Decoded<(typeof EVENTS)[Type]>;
export type KeeperEvent = { [Type in keyof typeof EVENTS]: EventOf<Type> }[keyof typeof EVENTS];

export type MessageAdded = EventOf<'message/added'>;
export type AttentionRaised = EventOf<'attention/raised'>;
export type AttentionSettled = EventOf<'attention/settled'>;
export type SessionNotified = EventOf<'session/notified'>;

export type Frame =
  | { type: 'hello'; position: Position | null }
  | { type: 'subscribed' }
  /** What was sent does not hold any more: of one session, or of all. */
  | { type: 'resync'; sessionId: string | null }
  | { type: 'pong' }
  | { type: 'event'; event: KeeperEvent };

export function readPosition(raw: unknown): Position | null {
  const parts = /^(.+):(\d+)$/.exec(verbatim(raw));
  return parts ? { epoch: parts[1] as string, seq: Number(parts[2]) } : null;
}

/** Null for a type that this page does not read: a newer keeper may send more. */
export function readFrame(data: unknown): Frame | null {
  let frame: Fields | null;
  try {
    frame = fields<unknown>(JSON.parse(String(data)));
  } catch {
    return null;
  }
  switch (frame?.type) {
    case 'hello':
      return { type: 'hello', position: readPosition(frame.position) };
    case 'resync':
      return { type: 'resync', sessionId: text(frame.sessionId) };
    case 'subscribed':
    case 'pong':
      return { type: frame.type };
    default: {
      const event = frame && readEvent(frame);
      return event && { type: 'event', event };
    }
  }
}

export function readEvent(frame: Fields): KeeperEvent | null {
  const type = oneOf(EVENT_TYPES, frame.type);
  const event = type && EVENTS[type](frame);
  const stamp = { position: readPosition(frame.position), sessionId: verbatim(frame.sessionId) };
  return event && ({ ...stamp, type, ...event } as KeeperEvent);
}
