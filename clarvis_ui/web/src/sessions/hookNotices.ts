import { type ReadonlySignal, signal } from '@preact/signals';
import type { KeeperEvent } from '../api/events';

/** The last thing that Claude Code said of itself where somebody else runs it, by session. */
export interface Told {
  readonly last: ReadonlySignal<ReadonlyMap<string, string>>;
  hear(events: readonly KeeperEvent[]): void;
  forget(): void;
}

export function createTold(): Told {
  const last = signal<ReadonlyMap<string, string>>(new Map());

  function set(sessionId: string, words: string | null): void {
    if ((last.value.get(sessionId) ?? null) === words) return;
    const next = new Map(last.value);
    if (words === null) next.delete(sessionId);
    else next.set(sessionId, words);
    last.value = next;
  }

  return {
    last,
    hear(events) {
      for (const event of events) {
        const words = wordsTold(event);
        if (words !== undefined) set(event.sessionId, words);
      }
    },
    forget() {
      last.value = new Map();
    },
  };
}

/** Null: what was said is over; undefined: the event says nothing about it. */
export function wordsTold(event: KeeperEvent): string | null | undefined {
  switch (event.type) {
    case 'session/notified':
      if (event.event === 'Notification') return event.text ?? undefined;
      return event.event === 'Stop' ? 'Claude has finished.' : null;
    case 'message/added':
      // somebody goes on with it: what was said before is no news any more
      return event.message.kind === 'prompt' ? null : undefined;
    case 'session/removed':
      return null;
    default:
      return undefined;
  }
}
