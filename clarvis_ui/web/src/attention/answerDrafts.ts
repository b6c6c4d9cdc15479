import { useRef, useState } from 'preact/hooks';
import type { Attention } from '../api/attention';
import { each, fields, text, verbatim } from '../api/decode';
import type { BrowserStorage } from '../lib/storage';

/** An unfinished answer to an open question. */
export interface AnswerDraft {
  open: string | null;
  /** What is typed there; null: nothing yet. */
  text: string | null;
  choices: Readonly<Record<string, ChoiceDraft>>;
}

/** The choice for one question; `other` is a typed answer. */
export interface ChoiceDraft {
  labels: readonly string[];
  other: string;
  typed: boolean;
}

/** What identifies a question, also under a new id. */
export type DraftedAttention = Pick<Attention, 'id' | 'sessionId' | 'tool' | 'input'>;

/** Unfinished answers, kept over reloads. */
export interface AnswerDrafts {
  read(attention: DraftedAttention): AnswerDraft;
  write(attention: DraftedAttention, draft: AnswerDraft): void;
  forget(attentionId: string): void;
  /** The question was withdrawn. Claude may ask the same again, under a new id. */
  withdraw(attentionId: string): void;
  /** Withdraws all but these. */
  keepOnly(open: readonly string[]): void;
}

export const NO_CHOICE: ChoiceDraft = { labels: [], other: '', typed: false };
const NOTHING: AnswerDraft = { open: null, text: null, choices: {} };
const KEY = 'answer.';
/** Withdrawn drafts, by the content of their question. */
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

/** Equal for equal questions of one session, in whatever order the input is written. */
function contentOf({ sessionId, tool, input }: DraftedAttention): string {
  const words = JSON.stringify([sessionId, tool, input], (_, value: unknown) => {
    const record = Array.isArray(value) ? null : fields(value);
    return record ? Object.fromEntries(Object.entries(record).sort()) : value;
  });
  return `${sessionId}.${words.length}.${digest(words)}`;
}

/** A short hash; a key of the whole content could exceed the quota of the storage. */
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

/** The draft of the answer to this question, saved with every change. */
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
