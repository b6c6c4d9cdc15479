import type { Attention } from '../api/attention';
import { each, fields, text, verbatim } from '../api/decode';
import type { BrowserStorage } from '../lib/storage';

/** An answer that was begun and not given. */
export interface AnswerDraft {
  /** Which field of the card is open; null where there is none. */
  open: string | null;
  /** What is typed there; null: nothing yet. */
  text: string | null;
  /** What is chosen so far, by question. */
  choices: Readonly<Record<string, ChoiceDraft>>;
}

/** What is chosen for one question; `other` is what is typed in place of an option. */
export interface ChoiceDraft {
  labels: readonly string[];
  other: string;
  /** Whether the typed answer counts. */
  typed: boolean;
}

/** As much of a question as says what is asked. */
export type DraftedAttention = Pick<Attention, 'id' | 'sessionId' | 'tool' | 'input'>;

/** Answers half given, over every refresh and every look at another session. */
export interface AnswerDrafts {
  read(asked: DraftedAttention): AnswerDraft;
  write(asked: DraftedAttention, half: AnswerDraft): void;
  /** It was answered. */
  forget(attentionId: string): void;
  /** It is no longer asked, and nobody answered: Claude may ask the same again, under a new id. */
  withdraw(attentionId: string): void;
  /** What is not among these is no longer asked. */
  keepOnly(open: readonly string[]): void;
}

export const NO_CHOICE: ChoiceDraft = { labels: [], other: '', typed: false };
const NOTHING: AnswerDraft = { open: null, text: null, choices: {} };
const KEY = 'answer.';
/** By what was asked, for as long as it may be asked again. */
const LEFT = 'unanswered.';
const LEFT_MS = 24 * 3_600_000;

export function createAnswerDrafts(
  memory: BrowserStorage,
  now: () => number = Date.now,
): AnswerDrafts {
  function leave(key: string): void {
    const half = fields(memory.read(key));
    memory.forget(key);
    const asked = text(half?.asked);
    if (asked !== null) memory.write(LEFT + asked, { ...half, left: now() });
  }

  return {
    read(asked) {
      const own = memory.read(KEY + asked.id);
      if (own !== null) return readHalf(own);
      const before = LEFT + contentOf(asked);
      const left = fields(memory.read(before));
      if (!left) return NOTHING;
      memory.forget(before);
      memory.write(KEY + asked.id, left);
      return readHalf(left);
    },
    write(asked, half) {
      const begun = half.open !== null || Object.keys(half.choices).length > 0;
      if (begun) memory.write(KEY + asked.id, { ...half, asked: contentOf(asked) });
      else memory.forget(KEY + asked.id);
    },
    forget: (attentionId) => memory.forget(KEY + attentionId),
    withdraw: (attentionId) => leave(KEY + attentionId),
    keepOnly(open) {
      for (const key of memory.keys(KEY)) {
        if (!open.includes(key.slice(KEY.length))) leave(key);
      }
      for (const key of memory.keys(LEFT)) {
        const since = fields(memory.read(key))?.left;
        if (typeof since !== 'number' || now() - since > LEFT_MS) memory.forget(key);
      }
    },
  };
}

/** The same for the same question of the same session, in whatever order its input is written. */
function contentOf({ sessionId, tool, input }: DraftedAttention): string {
  const words = JSON.stringify([sessionId, tool, input], (_, value: unknown) => {
    const given = Array.isArray(value) ? null : fields(value);
    return given ? Object.fromEntries(Object.entries(given).sort()) : value;
  });
  return `${sessionId}.${words.length}.${digest(words)}`;
}

/** Of any text; not for secrets. */
function digest(words: string): string {
  let [one, other] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < words.length; at += 1) {
    const letter = words.charCodeAt(at);
    one = Math.imul(one ^ letter, 2654435761);
    other = Math.imul(other ^ letter, 1597334677);
  }
  return ((one >>> 0).toString(16) + (other >>> 0).toString(16)).padStart(16, '0');
}

function readHalf(raw: unknown): AnswerDraft {
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
