import { useState } from 'preact/hooks';
import { Markdown } from '../../blocks/Markdown';
import { within } from '../../state/paths';
import { counted, money, roughly } from '../../state/words';
import type { Outcome } from '../../transport/outcome';
import type { Decision, Retold, Standing } from '../../transport/returning';
import { Anew } from './Anew';

export interface RecapCardProps {
  standing: Standing;
  detailed: boolean;
  workdir: string | null;
  onPrompt(text: string): void;
  onRetell(): Promise<Outcome<Retold>>;
  /** There is a reason to begin anew: one goes on all the same, or does. */
  onResume(): void;
  onFresh(): void;
}

const MOST = 8;

/** Where things stand: what is next, what was decided, how far it is, what going on costs. */
export function RecapCard(props: RecapCardProps) {
  const { standing, detailed, workdir, onPrompt, onRetell, onResume, onFresh } = props;
  const [retold, setRetold] = useState<Retold | null>(null);
  const [asking, setAsking] = useState(false);
  const [problem, setProblem] = useState('');
  const { next, items, done, percent } = standing;

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
        <p dir="auto">{standing.quick}</p>
      )}
      {standing.fresh && (
        <Anew warnings={retold ? standing.warnings : []} onResume={onResume} onFresh={onFresh} />
      )}
      <p class="recap-next">
        {next.prompt !== null && (
          <button type="button" class="strong" onClick={() => onPrompt(next.prompt ?? '')}>
            {LEADS[next.kind]}
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
            {done} of {items} tasks ({percent} %)
          </span>
        </div>
      )}
      {detailed && <Details standing={standing} workdir={workdir} />}
      <p class="recap-cost">{costOf(standing)}</p>
    </div>
  );
}

const LEADS: Readonly<Record<Standing['next']['kind'], string>> = {
  working: 'Go on',
  answer: 'Answer it',
  reply: 'Ask again',
  continue: 'Continue with it',
  start: 'Start with it',
  done: 'Go on',
};

function Details({ standing, workdir }: { standing: Standing; workdir: string | null }) {
  const { lastReply, open, missing, decisions, files, filesChanged, commands } = standing;
  return (
    <>
      {lastReply && <Part title="Claude’s last words" lines={[firstWords(lastReply)]} />}
      <Part title="Still to do" lines={open} />
      <Part title="Decided" lines={decisions.slice(-MOST).map(decisionLine)} />
      <Part
        title={`${counted(filesChanged, 'file')} changed, ${counted(commands, 'command')} run`}
        lines={files.map((file) => within(file.path, workdir))}
      />
      <Part title="Not covered yet" lines={missing} />
    </>
  );
}

function Part({ title, lines }: { title: string; lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <ul>
        {lines.slice(0, MOST).map((line, at) => (
          <li key={at} dir="auto">
            {line}
          </li>
        ))}
      </ul>
      {lines.length > MOST && <p class="recap-more">and {lines.length - MOST} more</p>}
    </section>
  );
}

function decisionLine({ about, decision, reason }: Decision): string {
  return `${about}: ${decision}${reason ? ` — ${reason}` : ''}`;
}

function firstWords(text: string): string {
  return text.length <= 400 ? text : `${text.slice(0, 399)}…`;
}

function costOf({ resumeTokens, resumeUsd, complete }: Standing): string {
  if (!complete) return 'This session is still being read; there is more to tell in a moment.';
  if (!resumeTokens) return '';
  const price = resumeUsd ? `, about ${money(resumeUsd)}` : '';
  return `The next message sends ${roughly(resumeTokens)} tokens again${price}.`;
}
