import type { ComponentType } from 'preact';
import { useId, useRef } from 'preact/hooks';
import type { Answer, Attention, AttentionKind } from '../../api/attention';
import { StatusDot } from '../../ui/StatusDot';
import type { AnswerDrafts } from '../answerDrafts';
import { useAnswerDraft } from '../answerDrafts';
import { CeilingCard } from './CeilingCard';
import type { CardProps } from './cardProps';
import { PermissionCard } from './PermissionCard';
import { PlanCard } from './PlanCard';
import { QuestionCard } from './QuestionCard';
import { useDoubleClickGuard } from './useDoubleClickGuard';
import type { PlanSource } from './usePlan';
import './card.css';

const CARDS: Readonly<Record<AttentionKind, ComponentType<CardProps>>> = {
  permission: PermissionCard,
  question: QuestionCard,
  plan: PlanCard,
  ceiling: CeilingCard,
};

export interface AttentionCardProps {
  attention: Attention;
  workdir: string | null;
  source: PlanSource;
  drafts: AnswerDrafts;
  /** Whether it replaced another card a moment ago. */
  replacedAnother: boolean;
  answering: boolean;
  problem: string | null;
  keys: boolean;
  onAnswer(answer: Answer): void;
}

export function AttentionCard(props: AttentionCardProps) {
  const { attention, answering, problem, onAnswer } = props;
  const headingId = useId();
  const armed = useDoubleClickGuard(props.replacedAnother, props.keys);
  const [draft, onHalf] = useAnswerDraft(props.drafts, attention);
  // one click may raise two events before the next drawing
  const answered = useRef(false);
  if (!answering) answered.current = false;

  function answer(chosen: Answer): void {
    if (answered.current) return;
    answered.current = true;
    onAnswer(chosen);
  }

  const Card = CARDS[attention.kind];
  const card = {
    attention,
    workdir: props.workdir,
    source: props.source,
    ready: armed && !answering,
    keys: props.keys,
    headingId,
    draft,
    onHalf,
    onAnswer: answer,
  };
  return (
    <section
      class="card"
      aria-labelledby={headingId}
      data-attention={attention.id}
      data-keys={props.keys}
    >
      {attention.origin === 'terminal' && (
        <p class="card-origin">
          <StatusDot tone="terminal" elsewhere />
          Asked in a terminal. The first answer counts, there or here.
        </p>
      )}
      <Card {...card} />
      {problem && (
        <p class="card-problem" role="alert">
          {problem}
        </p>
      )}
    </section>
  );
}
