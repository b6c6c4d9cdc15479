import type { Decision, ResumeReport, Share, Turn } from '../api/resume';
import { counted, withoutMarkdown } from '../lib/format';
import { relativeTo } from '../lib/paths';
import { Checklist } from './Checklist';

export interface RecapDetailsProps {
  report: ResumeReport;
  workdir: string | null;
}

const MAX_ITEMS = 8;
const MAX_CHARACTERS = 280;

/** The last turns, the decisions, the changes, and the progress by group and by checklist. */
export function RecapDetails({ report, workdir }: RecapDetailsProps) {
  const { turns, groups, open, coverage, decisions, files, filesChanged } = report;
  return (
    <>
      {groups.length > 1 && <Shares title="By group" shares={groups} />}
      <Turns turns={turns} />
      <Part title="Still to do" lines={open} />
      <Part title="Key decisions" lines={decisions.slice(-MAX_ITEMS).map(decisionLine)} />
      <Part
        title={`${counted(filesChanged, 'file')} changed`}
        lines={files.map(
          ({ path, edits }) =>
            `${relativeTo(path, workdir)}${edits > 1 ? ` (${edits} times)` : ''}`,
        )}
      />
      <Commands report={report} />
      {coverage?.problem && (
        <Part title="The project’s checklist cannot be used" lines={[coverage.problem]} />
      )}
      {coverage && coverage.categories.length > 0 && <Checklist coverage={coverage} />}
    </>
  );
}

function Turns({ turns }: { turns: readonly Turn[] }) {
  if (turns.length === 0) return null;
  return (
    <section>
      <h3>{turns.length > 1 ? 'The last turns' : 'The last turn'}</h3>
      <ol class="recap-turns">
        {turns.map(({ prompt, reply, tools, whole }, at) => (
          <li key={at}>
            <p dir="auto">{prompt === null ? 'Asked further back' : shortened(prompt)}</p>
            <p dir="auto">
              {reply === null ? whole && 'No words' : shortened(withoutMarkdown(reply))}
              {tools > 0 && (
                <small>
                  {whole ? ' ' : ' at least '}
                  {counted(tools, 'tool call')}
                </small>
              )}
            </p>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Shares({ title, shares }: { title: string; shares: readonly Share[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <ul class="recap-shares">
        {shares.map(({ name, items, done }) => (
          <li key={name}>
            <span dir="auto">{name}</span>
            <progress value={done} max={items} aria-label={name} />
            <span>
              {done} of {items}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Commands({ report }: { report: ResumeReport }) {
  const { commands, commandsFailed, lastCommands } = report;
  const failed = commandsFailed > 0 ? `, ${commandsFailed} failed` : '';
  const last = lastCommands.slice(-MAX_ITEMS);
  if (commands === 0) return null;
  return (
    <section>
      <h3>
        {counted(commands, 'command')} run{failed}
        {commands > last.length && `; the last ${last.length}:`}
      </h3>
      <ul>
        {last.map((command, at) => (
          <li key={at}>
            <code dir="auto">{command}</code>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Part({ title, lines }: { title: string; lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <ul>
        {lines.slice(0, MAX_ITEMS).map((line, at) => (
          <li key={at} dir="auto">
            {line}
          </li>
        ))}
      </ul>
      {lines.length > MAX_ITEMS && <p class="recap-more">and {lines.length - MAX_ITEMS} more</p>}
    </section>
  );
}

function decisionLine({ about, decision, reason }: Decision): string {
  return `${about}: ${decision}${reason ? ` — ${reason}` : ''}`;
}

function shortened(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS - 1)}…`;
}
