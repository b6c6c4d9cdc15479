import { type Signal, signal } from '@preact/signals';

/** What is expanded in one conversation, while rows are removed and drawn again. */
export interface ExpandState {
  /** `first`: the initial state. */
  signalOf(key: string, first?: boolean): Signal<boolean>;
}

export function createExpandState(): ExpandState {
  const open = new Map<string, Signal<boolean>>();
  return {
    signalOf(key, first = false) {
      let fold = open.get(key);
      if (!fold) {
        fold = signal(first);
        open.set(key, fold);
      }
      return fold;
    },
  };
}

/** The number of sessions whose state is held. */
const MAX_SESSIONS = 60;

export interface ExpandStates {
  /** Those of a session, for as long as the page lives. */
  of(sessionId: string): ExpandState;
  forget(): void;
}

export function createExpandStates(): ExpandStates {
  /** In the order of use, the latest last. */
  const sessions = new Map<string, ExpandState>();
  return {
    of(sessionId) {
      const expandState = sessions.get(sessionId) ?? createExpandState();
      sessions.delete(sessionId);
      sessions.set(sessionId, expandState);
      for (const old of [...sessions.keys()].slice(0, -MAX_SESSIONS)) sessions.delete(old);
      return expandState;
    },
    forget: () => sessions.clear(),
  };
}
