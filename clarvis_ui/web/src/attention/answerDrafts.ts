import { useRef, useState } from 'preact/hooks';
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
  read(attention: DraftedAttention): AnswerDraft;
  write(attention: DraftedAttention, draft: AnswerDraft): void;
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
  storage: BrowserStorage,
  now: () => number = Date.now,
): AnswerDrafts {
  function leave(key: string): void {
    const draft = fields(storage.read(key));
    storage.forget(key);
    const content = text(draft?.asked);
    if (content !== null) storage.write(LEFT + content, { ...draft, left: now() });
  }

  return {
    read(attention) {
      const own = storage.read(KEY + attention.id);
      if (own !== null) return readHalf(own);
      const before = LEFT + contentOf(attention);
      const withdrawn = fields(storage.read(before));
      if (!withdrawn) return NOTHING;
      storage.forget(before);
      storage.write(KEY + attention.id, withdrawn);
      return readHalf(withdrawn);
    },
    write(attention, draft) {
      const begun = draft.open !== null || Object.keys(draft.choices).length > 0;
      if (begun) storage.write(KEY + attention.id, { ...draft, asked: contentOf(attention) });
      else storage.forget(KEY + attention.id);
    },
    forget: (attentionId) => storage.forget(KEY + attentionId),
    withdraw: (attentionId) => leave(KEY + attentionId),
    keepOnly(open) {
      for (const key of storage.keys(KEY)) {
        if (!open.includes(key.slice(KEY.length))) leave(key);
      }
      for (const key of storage.keys(LEFT)) {
        const since = fields(storage.read(key))?.left;
        if (typeof since !== 'number' || now() - since > LEFT_MS) storage.forget(key);
      }
    },
  };
}

/** The same for the same question of the same session, in whatever order its input is written. */
function contentOf({ sessionId, tool, input }: DraftedAttention): string {
  const words = JSON.stringify([sessionId, tool, input], (_, value: unknown) => {
    const record = Array.isArray(value) ? null : fields(value);
    return record ? Object.fromEntries(Object.entries(record).sort()) : value;
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
  const stored = fields(raw);
  if (!stored) return NOTHING;
  const choices = Object.entries(fields(stored.choices) ?? {}).map(([question, one]) => {
    const choice = fields(one) ?? {};
    const labels = each(choice.labels, text);
    return [question, { labels, other: verbatim(choice.other), typed: choice.typed === true }];
  });
  return {
    open: text(stored.open),
    text: typeof stored.text === 'string' ? stored.text : null,
    choices: Object.fromEntries(choices),
  };
}

/** The answer to this question as far as it was begun, kept as it is given. */
export function useAnswerDraft(
  drafts: AnswerDrafts,
  attention: DraftedAttention,
): [AnswerDraft, (changes: Partial<AnswerDraft>) => void] {
  const [draft, setHalf] = useState(() => drafts.read(attention));
  const latest = useRef(draft);
  function change(changes: Partial<AnswerDraft>): void {
    latest.current = { ...latest.current, ...changes };
    drafts.write(attention, latest.current);
    setHalf(latest.current);
  }
  return [draft, change];
}
