import { batch } from '@preact/signals';
import { Tally } from '../content/Diff';
import { ExpandAll } from '../content/tools/PatchFiles';
import { Todos } from '../content/tools/Todos';
import { ToolBody } from '../content/tools/ToolBody';
import {
  changesOf,
  isEdit,
  summarize,
  summarizePending,
  summarizeTasks,
  summarizeUnanswered,
  type ToolCall,
  type ToolSummary,
  tallyOf,
} from '../content/tools/toolSummary';
import { counted } from '../lib/format';
import { shortPath } from '../lib/paths';
import { stripControls } from '../lib/sanitize';
import { Collapsible } from './Collapsible';
import { useThreadContext } from './context';
import { MessageMenu } from './MessageMenu';
import { callOf, type ToolRow, type ToolsRow } from './rows/rows';
import { isSubagent } from './rows/subagents';
import { Subagent } from './Subagent';

/** A call in one line: verb, object, outcome. */
export function ToolCallView({ row }: { row: ToolRow }) {
  const { waiting, unanswered, workdir } = useThreadContext();
  const call = callOf(row);
  const asks = row.running && waiting.value.has(row.use.id);
  const isUnanswered = !row.running && row.result === null && unanswered.value.has(row.use.id);
  return (
    <Collapsible
      name={row.key}
      class="tool"
      summary={
        <SummaryLine
          summary={
            asks
              ? summarizePending(call)
              : isUnanswered
                ? summarizeUnanswered(call)
                : summarize(call)
          }
        />
      }
    >
      {() => (
        <>
          {isSubagent(row) ? <Subagent row={row} /> : <ToolBody call={call} workdir={workdir} />}
          {/* with what came of it: a fork in between would end in the middle of a call */}
          <MessageMenu
            uuid={row.resultUuid ?? row.uuid}
            timestamp={null}
            text={row.result?.text ?? ''}
          />
        </>
      )}
    </Collapsible>
  );
}

export function SummaryLine({ summary }: { summary: ToolSummary }) {
  const { workdir } = useThreadContext();
  const object = firstLine(summary.object);
  return (
    <>
      <span class="tool-verb">{summary.verb}</span>
      {summary.as === 'words' ? (
        <span class="tool-object" dir="auto" title={summary.object}>
          {object}
        </span>
      ) : (
        <code class="tool-object" dir="ltr" title={summary.object}>
          {summary.as === 'path' ? shortPath(object, workdir) : object}
        </code>
      )}
      <span class="tool-outcome" data-tone={summary.tone}>
        {summary.tally ? <Tally {...summary.tally} /> : summary.outcome}
      </span>
    </>
  );
}

function firstLine(text: string): string {
  const [first = '', ...rest] = text.trimStart().slice(0, 400).split('\n');
  return rest.length > 0 ? `${first} …` : first;
}

/** Several calls of one kind as one row. */
export function ToolCalls({ row }: { row: ToolsRow }) {
  const last = row.calls.at(-1);
  if (last && last.tasks.length > 0) return <List name={row.key} last={last} />;
  const calls = row.calls.map(callOf);
  return (
    <Collapsible name={row.key} class="tool" summary={<Gathered calls={calls} />}>
      {() => (
        <>
          <Every calls={row.calls} />
          {row.calls.map((each) => (
            <ToolCallView key={each.key} row={each} />
          ))}
        </>
      )}
    </Collapsible>
  );
}

/** All of them at once: sixty files are not to be opened one by one. */
function Every({ calls }: { calls: readonly ToolRow[] }) {
  const { expandState, hold } = useThreadContext();
  const all = calls.map(({ key }) => expandState.signalOf(key));
  return (
    <div class="diff-files">
      <ExpandAll
        done={all.every((fold) => fold.value)}
        onChange={(open) => {
          hold();
          batch(() => {
            for (const fold of all) fold.value = open;
          });
        }}
      />
    </div>
  );
}

/** What there is to do, as it stood after the last of the calls. */
function List({ name, last: { tasks, resultUuid, uuid } }: { name: string; last: ToolRow }) {
  return (
    <Collapsible name={name} class="tool" summary={<SummaryLine summary={summarizeTasks(tasks)} />}>
      {() => (
        <>
          <div class="tool-body">
            <Todos todos={tasks} />
          </div>
          <MessageMenu
            uuid={resultUuid ?? uuid}
            timestamp={null}
            text={tasks.map(({ words }) => words).join('\n')}
          />
        </>
      )}
    </Collapsible>
  );
}

function Gathered({ calls }: { calls: readonly ToolCall[] }) {
  const name = calls[0]?.name ?? '';
  const objects = new Set(calls.map((call) => summarize(call).object));
  const names = [...objects].map((path) => path.split(/[\\/]/).at(-1) ?? '').join(', ');
  const edits = isEdit(name);
  const verb = edits
    ? `Edited ${counted(objects.size, 'file')}`
    : name === 'Read'
      ? `Read ${counted(objects.size, 'file')}`
      : `Searched ${counted(calls.length, 'time')}`;
  return (
    <>
      <span class="tool-verb">{verb}</span>
      <code class="tool-object" dir="ltr">
        {stripControls(names)}
      </code>
      <span class="tool-outcome">{edits && <Tally {...summed(calls)} />}</span>
    </>
  );
}

function summed(calls: readonly ToolCall[]): { added: number; removed: number } {
  const sum = { added: 0, removed: 0 };
  for (const call of calls) {
    const { added, removed } = tallyOf(changesOf(call));
    sum.added += added;
    sum.removed += removed;
  }
  return sum;
}
