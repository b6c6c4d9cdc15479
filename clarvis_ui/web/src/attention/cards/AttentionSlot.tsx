import { useRef } from 'preact/hooks';
import { counted } from '../../lib/format';
import { lastSettledIn, openIn } from '../inbox';
import type { AttentionStore } from '../store';
import { AttentionCard } from './AttentionCard';
import { SettledLine } from './SettledLine';
import type { PlanSource } from './usePlan';

export interface AttentionSlotProps {
  attentionStore: AttentionStore;
  source: PlanSource;
  sessionId: string;
  workdir: string | null;
  /** Whether a turn runs: what was settled in it is still news. */
  running: boolean;
  /** Whether the interrupted turn shows its open questions itself. */
  interrupted: boolean;
}

/** The first open question of the session, or how the last one was settled. */
export function AttentionSlot(props: AttentionSlotProps) {
  const { attentionStore, source, sessionId, workdir, running, interrupted } = props;
  const inbox = attentionStore.inbox.value;
  const [first, ...others] = openIn(inbox, sessionId);
  const replacedAnother = useReplaced(first?.id ?? null);
  const settled = lastSettledIn(inbox, sessionId);

  if (!first) {
    const isExplained = interrupted && settled?.decision === 'gone';
    return settled && !isExplained && (running || !settled.mine) ? (
      <div class="slot" role="status">
        <SettledLine settled={settled} workdir={workdir} />
      </div>
    ) : null;
  }
  return (
    <div class="slot">
      <p class="spoken" role="alert">
        {first.kind === 'ceiling'
          ? 'An item waits for your answer.'
          : 'Claude waits for your answer.'}
      </p>
      {settled && !settled.mine && <SettledLine settled={settled} workdir={workdir} />}
      <AttentionCard
        key={first.id}
        attention={first}
        workdir={workdir}
        source={source}
        drafts={attentionStore.drafts}
        replacedAnother={replacedAnother}
        answering={inbox.answering.has(first.id)}
        problem={inbox.problems.get(first.id) ?? null}
        keys
        onAnswer={(answer) => void attentionStore.answer(first.id, answer)}
      />
      {others.length > 0 && (
        <p class="slot-more">{counted(others.length, 'more question')} after this one</p>
      )}
    </div>
  );
}

const A_MOMENT_MS = 1000;

/** Whether this card came while another stood here, or a moment after it had gone. */
function useReplaced(id: string | null): boolean {
  const last = useRef<{ id: string | null; replaced: boolean; goneAt: number }>({
    id: null,
    replaced: false,
    goneAt: Number.NEGATIVE_INFINITY,
  });
  const before = last.current;
  if (id !== before.id) {
    const now = performance.now();
    last.current = {
      id,
      replaced: id !== null && (before.id !== null || now - before.goneAt < A_MOMENT_MS),
      goneAt: before.id !== null ? now : before.goneAt,
    };
  }
  return last.current.replaced;
}
