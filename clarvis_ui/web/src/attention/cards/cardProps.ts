import type { Answer, Attention } from '../../api/attention';
import type { AnswerDraft } from '../answerDrafts';
import type { PlanSource } from './usePlan';

/** What the card of every kind gets. */
export interface CardProps {
  attention: Attention;
  workdir: string | null;
  source: PlanSource;
  /** False while an answer would be an accident, or is on its way. */
  ready: boolean;
  keys: boolean;
  headingId: string;
  draft: AnswerDraft;
  onHalf(changes: Partial<AnswerDraft>): void;
  onAnswer(answer: Answer): void;
}
