import { fields, oneOf, text, verbatim } from '../api/decode';
import type { BrowserStorage } from '../lib/storage';
import { OPTIMISTIC_STATES, type OptimisticMessage } from './optimistic';

/** Messages on their way, kept so that a refresh loses none. Each has a place of its own, so that
 * two tabs do not overwrite each other's. */
export interface Outbox {
  restore(sessionId: string): OptimisticMessage[];
  store(
    sessionId: string,
    now: readonly OptimisticMessage[],
    before: readonly OptimisticMessage[],
  ): void;
}

export function createOutbox(storage: BrowserStorage): Outbox {
  const key = (sessionId: string, uuid = ''): string => `outbox.${sessionId}.${uuid}`;
  return {
    restore: (sessionId) =>
      storage
        .keys(key(sessionId))
        .map((storageKey) => readStored(storage.read(storageKey)))
        .filter((pending) => pending !== null)
        .sort((a, b) => a.begun - b.begun),
    store(sessionId, now, before) {
      const current = new Set(now.map((pending) => pending.uuid));
      for (const pending of before) {
        if (!current.has(pending.uuid)) storage.forget(key(sessionId, pending.uuid));
      }
      for (const pending of now) {
        if (before.includes(pending)) continue;
        const isStored = storage.write(key(sessionId, pending.uuid), pending);
        // images may exceed the quota of the storage; the text never does
        if (!isStored) storage.write(key(sessionId, pending.uuid), withoutImages(pending));
      }
    },
  };
}

function withoutImages(pending: OptimisticMessage): OptimisticMessage {
  return {
    ...pending,
    content: pending.content.filter((block) => block.type === 'text'),
    images: 0,
  };
}

function readStored(raw: unknown): OptimisticMessage | null {
  const stored = fields(raw);
  const uuid = stored && text(stored.uuid);
  if (!stored || !uuid || !Array.isArray(stored.content)) return null;
  return {
    uuid,
    text: verbatim(stored.text),
    content: stored.content.filter((block) => typeof fields(block)?.type === 'string'),
    images: typeof stored.images === 'number' ? stored.images : 0,
    ...(stored.interrupt === true && { interrupt: true }),
    state: oneOf(OPTIMISTIC_STATES, stored.state) ?? 'failed',
    problem: text(stored.problem),
    behind: text(stored.behind),
    begun: typeof stored.begun === 'number' ? stored.begun : 0,
  };
}
