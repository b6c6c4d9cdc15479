import { useRef, useState } from 'preact/hooks';
import type { AnswerDraft, AnswerDrafts, DraftedAttention } from '../answerDrafts';

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
