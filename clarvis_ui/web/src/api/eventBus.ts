import { batch } from '@preact/signals';
import type { KeeperEvent } from './events';

export type EventType = KeeperEvent['type'];
export type EventOf<T extends EventType> = Extract<KeeperEvent, { type: T }>;

/** The keeper's events, for the stores that register for their types. */
export interface EventBus {
  /** Returns the undo. */
  on<T extends EventType>(
    types: T | readonly T[],
    listener: (event: EventOf<T>) => void,
  ): () => void;
  /**
   * A listener gets all events of its types, in their order, before the next listener gets any:
   * whoever registers later reads what the earlier ones have made of the whole batch.
   */
  publish(events: readonly KeeperEvent[]): void;
}

export function createEventBus(): EventBus {
  const listeners = new Set<(events: readonly KeeperEvent[]) => void>();
  return {
    on(types, listener) {
      const wanted = new Set<EventType>([types].flat());
      const deliver = (events: readonly KeeperEvent[]): void => {
        for (const event of events) if (wanted.has(event.type)) listener(event as never);
      };
      listeners.add(deliver);
      return () => void listeners.delete(deliver);
    },
    publish(events) {
      // what many events change is drawn once
      batch(() => {
        for (const deliver of listeners) deliver(events);
      });
    },
  };
}
