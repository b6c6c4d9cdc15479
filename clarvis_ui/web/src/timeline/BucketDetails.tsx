import type { PromptLine, Timeline } from '../api/timeline';
import { messageHref } from '../app/routes';
import { count, fullTime } from '../lib/format';
import { Icon } from '../ui/Icon';
import { type Column, columnWords, isNothing, type Step } from './columns';

export interface BucketDetailsProps {
  columns: readonly Column[];
  at: number;
  /** The timeline of that span; null until it is loaded. */
  timeline: Timeline | null;
  problem: string;
  /** Whether the prompts are of several sessions. */
  sessions: boolean;
  hrefOf(column: Column): string;
}

/** The prompts of one column, each a link into its conversation. */
export function BucketDetails({
  columns,
  at,
  timeline,
  problem,
  sessions,
  hrefOf,
}: BucketDetailsProps) {
  const column = columns[at];
  if (!column) return null;
  const busy = (one: Column) => !isNothing(one.done);
  const before = columns.slice(0, at).findLast(busy);
  const after = columns.slice(at + 1).find(busy);
  const more = timeline ? column.done.prompts - timeline.prompts.length : 0;
  return (
    <section class="timeline-close" aria-label="What was discussed">
      <header>
        <div>
          <h2>{column.name}</h2>
          <p>{columnWords(column)}</p>
        </div>
        <nav aria-label="Other times">
          <AdjacentColumn column={before} label="Earlier" icon="back" hrefOf={hrefOf} />
          <AdjacentColumn column={after} label="Later" icon="unfold" hrefOf={hrefOf} />
        </nav>
      </header>
      <div aria-live="polite" aria-busy={timeline === null && problem === ''}>
        <p class="timeline-problem">{problem}</p>
        {timeline === null && problem === '' && <p class="timeline-reading">Reading…</p>}
        {timeline?.prompts.length === 0 && (
          <p class="timeline-note">
            {isNothing(column.done)
              ? 'Nothing was done then.'
              : 'Nothing was asked then: Claude worked on what was asked before.'}
          </p>
        )}
        <ol class="timeline-prompts" aria-label="Prompts">
          {timeline?.prompts.map((prompt) => (
            <Prompt
              key={`${prompt.sessionId} ${prompt.uuid}`}
              prompt={prompt}
              session={sessions}
              step={column.step}
            />
          ))}
        </ol>
        {more > 0 && timeline && timeline.prompts.length > 0 && (
          <p class="timeline-note">and {count(more)} more</p>
        )}
      </div>
    </section>
  );
}

function AdjacentColumn(props: {
  column: Column | undefined;
  label: string;
  icon: 'back' | 'unfold';
  hrefOf(column: Column): string;
}) {
  const { column, label, icon, hrefOf } = props;
  if (!column) return <span class="timeline-way" aria-hidden="true" />;
  return (
    <a
      class="timeline-way"
      href={hrefOf(column)}
      aria-label={`${label}: ${column.name}`}
      title={column.name}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        // replaces the history entry, so that "back" leaves the timeline
        location.replace(hrefOf(column));
      }}
    >
      <Icon name={icon} />
    </a>
  );
}

const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

function Prompt({ prompt, session, step }: { prompt: PromptLine; session: boolean; step: Step }) {
  const then = prompt.at === null ? Number.NaN : Date.parse(prompt.at);
  const days = step === 'week' || step === 'month';
  return (
    <li>
      <a href={messageHref(prompt.sessionId, prompt.uuid)}>
        <time dateTime={prompt.at ?? undefined} title={fullTime(prompt.at)}>
          {!Number.isNaN(then) && (
            <>
              {days && DAY.format(then)} <b>{CLOCK.format(then)}</b>
            </>
          )}
        </time>
        <span class="timeline-words" dir="auto">
          {prompt.text}
        </span>
        {session && prompt.title !== prompt.text && (
          <span class="timeline-where" dir="auto">
            {prompt.title ?? 'Untitled session'}
          </span>
        )}
      </a>
    </li>
  );
}
