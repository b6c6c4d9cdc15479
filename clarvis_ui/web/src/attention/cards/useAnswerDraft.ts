import { useRef, useState } from 'preact/hooks';
import type { AnswerDraft, AnswerDrafts, DraftedAttention } from '../answerDrafts';

/** The answer to this question as far as it was begun, kept as it is given. */
export function useAnswerDraft(
  halves: AnswerDrafts,
  attention: DraftedAttention,
): [AnswerDraft, (changes: Partial<AnswerDraft>) => void] {
  const [half, setHalf] = useState(() => halves.read(attention));
  const latest = useRef(half);
  function change(changes: Partial<AnswerDraft>): void {
    latest.current = { ...latest.current, ...changes };
    halves.write(attention, latest.current);
    setHalf(latest.current);
  }
  return [half, change];
}
