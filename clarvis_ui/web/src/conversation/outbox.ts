import { fields, oneOf, text, verbatim } from '../api/decode';
import type { Memory } from '../lib/storage';
import { SENDING_STATES, type Sending } from './optimistic';

/** Messages on their way, kept so that a refresh loses none. Each has a place of its own, so that
 * two tabs do not overwrite each other's. */
export interface Outbox {
  restore(sessionId: string): Sending[];
  /** What is on its way now, and what was a moment ago. */
  keep(sessionId: string, now: readonly Sending[], before: readonly Sending[]): void;
}

export function createOutbox(memory: Memory): Outbox {
  const key = (sessionId: string, uuid = ''): string => `outbox.${sessionId}.${uuid}`;
  return {
    restore: (sessionId) =>
      memory
        .keys(key(sessionId))
        .map((found) => readSending(memory.read(found)))
        .filter((sending) => sending !== null)
        .sort((a, b) => a.begun - b.begun),
    keep(sessionId, now, before) {
      const left = new Set(now.map((sending) => sending.uuid));
      for (const sending of before) {
        if (!left.has(sending.uuid)) memory.forget(key(sessionId, sending.uuid));
      }
      for (const sending of now) {
        if (before.includes(sending)) continue;
        const kept = memory.write(key(sessionId, sending.uuid), sending);
        // images may be more than a browser keeps; the words never are
        if (!kept) memory.write(key(sessionId, sending.uuid), withoutImages(sending));
      }
    },
  };
}

function withoutImages(sending: Sending): Sending {
  return {
    ...sending,
    content: sending.content.filter((block) => block.type === 'text'),
    images: 0,
  };
}

function readSending(raw: unknown): Sending | null {
  const given = fields(raw);
  const uuid = given && text(given.uuid);
  if (!given || !uuid || !Array.isArray(given.content)) return null;
  return {
    uuid,
    text: verbatim(given.text),
    content: given.content.filter((block) => typeof fields(block)?.type === 'string'),
    images: typeof given.images === 'number' ? given.images : 0,
    ...(given.interrupt === true && { interrupt: true }),
    state: oneOf(SENDING_STATES, given.state) ?? 'failed',
    problem: text(given.problem),
    behind: text(given.behind),
    begun: typeof given.begun === 'number' ? given.begun : 0,
  };
}
