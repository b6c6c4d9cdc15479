import { useState } from 'preact/hooks';
import type { Outcome } from '../api/result';
import type { AiRecap, ResumeReport } from '../api/resume';
import { Markdown } from '../content/Markdown';
import { money, roughly, spoken } from '../lib/format';
import { RecapDetails } from './RecapDetails';

export interface RecapCardProps {
  report: ResumeReport;
  detailed: boolean;
  workdir: string | null;
  onPrompt(text: string): void;
  onRetell(): Promise<Outcome<AiRecap>>;
  /** There is a reason to begin anew: one goes on all the same, or does. */
  onResume(): void;
  onFresh(): void;
}

/** The recap: the next action, the decisions, the progress and the cost of resuming. */
export function RecapCard(props: RecapCardProps) {
  const { report, detailed, workdir, onPrompt, onRetell, onResume, onFresh } = props;
  const [retold, setRetold] = useState<AiRecap | null>(null);
  const [asking, setAsking] = useState(false);
  const [problem, setProblem] = useState('');
  const { next, items, done, percent, coverage } = report;

  async function retell(): Promise<void> {
    setAsking(true);
    const outcome = await onRetell();
    setAsking(false);
    setProblem(outcome.ok ? '' : outcome.failure.sentence);
    if (outcome.ok) setRetold(outcome.value);
  }

  return (
    <div class="recap">
      {retold ? (
        <Markdown text={detailed ? retold.detailed : retold.quick} />
      ) : (
        <p class="recap-quick" dir="auto">
          {report.quick}
        </p>
      )}
      {retold && report.warnings.length > 0 && <p dir="auto">{report.warnings.join(' ')}</p>}
      <p class="recap-next">
        {next.kind !== 'answer' && next.prompt !== null && (
          <button type="button" class="strong" onClick={() => onPrompt(next.prompt ?? '')}>
            {leadOf(report)}
          </button>
        )}
        {/* going on with it is to resume it: one button for one thing */}
        {next.kind === 'answer' ? (
          <button type="button" class="strong" onClick={onResume}>
            Answer it
          </button>
        ) : (
          report.fresh &&
          next.prompt === null && (
            <button type="button" onClick={onResume}>
              Resume it
            </button>
          )
        )}
        {/* where it is over, something new is offered below */}
        {report.fresh && report.outcome === null && (
          <button type="button" onClick={onFresh}>
            Start afresh
          </button>
        )}
        {retold && retold.next !== '' && (
          <button type="button" onClick={() => onPrompt(retold.next)} dir="auto">
            {retold.next}
          </button>
        )}
        {!retold && (
          <button type="button" class="quiet" disabled={asking} onClick={() => void retell()}>
            {asking ? 'Claude is writing…' : 'Let Claude write it'}
          </button>
        )}
      </p>
      <p class="recap-problem" role="alert">
        {problem}
      </p>
      {items > 0 && (
        <div class="recap-progress">
          <progress value={done} max={items} aria-label="Tasks that are done" />
          <span>
            {done} of {items} tasks ({percent}&nbsp;%)
          </span>
        </div>
      )}
      {/* in detail it stands with the checklist */}
      {coverage && coverage.items > 0 && !detailed && (
        <div class="recap-progress">
          <progress
            value={coverage.done}
            max={coverage.items}
            aria-label="Items of the checklist that are covered"
          />
          <span>
            {coverage.done} of {coverage.items} covered ({coverage.percent}&nbsp;%)
          </span>
        </div>
      )}
      {detailed && <RecapDetails report={report} workdir={workdir} />}
      <p class="recap-cost">{costOf(report)}</p>
    </div>
  );
}

const LEADS: Readonly<Record<ResumeReport['next']['kind'], string>> = {
  working: 'Go on',
  answer: 'Answer it',
  reply: 'Ask again',
  continue: 'Continue with it',
  start: 'Start with it',
  done: 'Go on',
};

/** What the button says: a topic of the checklist is named. */
function leadOf({ next, coverage, open }: ResumeReport): string {
  const topic = coverage?.next;
  if (topic && topic.prompt === next.prompt) {
    return `${next.kind === 'continue' ? 'Continue' : 'Start'} with ${spoken(topic.category)}`;
  }
  const writes = next.kind === 'start' && coverage?.complete && open.length === 0;
  return writes ? 'Write the specification' : LEADS[next.kind];
}

function costOf({ resumeTokens, resumeUsd, complete }: ResumeReport): string {
  if (!complete) return 'This session is still being read; there is more to tell in a moment.';
  if (!resumeTokens) return '';
  const price = resumeUsd ? `, about ${money(resumeUsd)}` : '';
  return `The next message sends ${roughly(resumeTokens)} tokens again${price}.`;
}
