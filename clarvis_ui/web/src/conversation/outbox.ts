import { fields, oneOf, text, verbatim } from '../api/decode';
import type { BrowserStorage } from '../lib/storage';
import { OPTIMISTIC_STATES, type OptimisticMessage } from './optimistic';

/** Messages on their way, kept so that a refresh loses none. Each has a place of its own, so that
 * two tabs do not overwrite each other's. */
export interface Outbox {
  restore(sessionId: string): OptimisticMessage[];
  /** What is on its way now, and what was a moment ago. */
  store(
    sessionId: string,
    now: readonly OptimisticMessage[],
    before: readonly OptimisticMessage[],
  ): void;
}

export function createOutbox(memory: BrowserStorage): Outbox {
  const key = (sessionId: string, uuid = ''): string => `outbox.${sessionId}.${uuid}`;
  return {
    restore: (sessionId) =>
      memory
        .keys(key(sessionId))
        .map((found) => readSending(memory.read(found)))
        .filter((sending) => sending !== null)
        .sort((a, b) => a.begun - b.begun),
    store(sessionId, now, before) {
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

function withoutImages(sending: OptimisticMessage): OptimisticMessage {
  return {
    ...sending,
    content: sending.content.filter((block) => block.type === 'text'),
    images: 0,
  };
}

function readSending(raw: unknown): OptimisticMessage | null {
  const given = fields(raw);
  const uuid = given && text(given.uuid);
  if (!given || !uuid || !Array.isArray(given.content)) return null;
  return {
    uuid,
    text: verbatim(given.text),
    content: given.content.filter((block) => typeof fields(block)?.type === 'string'),
    images: typeof given.images === 'number' ? given.images : 0,
    ...(given.interrupt === true && { interrupt: true }),
    state: oneOf(OPTIMISTIC_STATES, given.state) ?? 'failed',
    problem: text(given.problem),
    behind: text(given.behind),
    begun: typeof given.begun === 'number' ? given.begun : 0,
  };
}
