import { type Signal, signal } from '@preact/signals';

/** What is unfolded in one conversation; kept while rows are put away and drawn again. */
export interface ExpandState {
  /** `first`: how it is as long as nobody touched it. */
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

/** Sessions whose folds are kept: more than anybody goes back and forth between. */
const MAX_SESSIONS = 60;

export interface ExpandStates {
  /** Those of a session, for as long as the page lives. */
  of(sessionId: string): ExpandState;
  forget(): void;
}

export function createExpandStates(): ExpandStates {
  /** The one used last is the last. */
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
