import { each, fields, text, verbatim } from '../transport/reading';
import type { Memory } from './memory';

/** An answer that was begun and not given. */
export interface Half {
  /** Which field of the card is open; null where there is none. */
  open: string | null;
  /** What is typed there; null: nothing yet. */
  text: string | null;
  /** What is chosen so far, by question. */
  choices: Readonly<Record<string, Choice>>;
}

/** What is chosen for one question; `other` is what is typed in place of an option. */
export interface Choice {
  labels: readonly string[];
  other: string;
  /** Whether the typed answer counts. */
  typed: boolean;
}

/** Answers half given, over every refresh and every look at another session. */
export interface Halves {
  read(attentionId: string): Half;
  write(attentionId: string, half: Half): void;
  forget(attentionId: string): void;
  /** What is no longer asked needs no answer. */
  keepOnly(open: readonly string[]): void;
}

export const NO_CHOICE: Choice = { labels: [], other: '', typed: false };
const NOTHING: Half = { open: null, text: null, choices: {} };
const KEY = 'answer.';

export function createHalves(memory: Memory): Halves {
  return {
    read: (attentionId) => readHalf(memory.read(KEY + attentionId)),
    write(attentionId, half) {
      const begun = half.open !== null || Object.keys(half.choices).length > 0;
      if (begun) memory.write(KEY + attentionId, half);
      else memory.forget(KEY + attentionId);
    },
    forget: (attentionId) => memory.forget(KEY + attentionId),
    keepOnly(open) {
      for (const key of memory.keys(KEY)) {
        if (!open.includes(key.slice(KEY.length))) memory.forget(key);
      }
    },
  };
}

function readHalf(raw: unknown): Half {
  const given = fields(raw);
  if (!given) return NOTHING;
  const choices = Object.entries(fields(given.choices) ?? {}).map(([question, one]) => {
    const choice = fields(one) ?? {};
    const labels = each(choice.labels, text);
    return [question, { labels, other: verbatim(choice.other), typed: choice.typed === true }];
  });
  return {
    open: text(given.open),
    text: typeof given.text === 'string' ? given.text : null,
    choices: Object.fromEntries(choices),
  };
}
