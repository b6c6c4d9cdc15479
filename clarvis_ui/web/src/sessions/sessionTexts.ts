import { type ReadonlySignal, signal } from '@preact/signals';

/** A text about each of some sessions. */
export interface SessionTexts {
  readonly texts: ReadonlySignal<ReadonlyMap<string, string>>;
  /** Null: nothing; undefined: as before. */
  set(sessionId: string, text: string | null | undefined): void;
  forget(): void;
}

export function createSessionTexts(): SessionTexts {
  const texts = signal<ReadonlyMap<string, string>>(new Map());
  return {
    texts,
    set(sessionId, text) {
      if (text === undefined || (texts.value.get(sessionId) ?? null) === text) return;
      const next = new Map(texts.value);
      if (text === null) next.delete(sessionId);
      else next.set(sessionId, text);
      texts.value = next;
    },
    forget() {
      texts.value = new Map();
    },
  };
}
