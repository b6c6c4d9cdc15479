import { batch } from '@preact/signals';
import { Tally } from '../content/Diff';
import { UnfoldAll } from '../content/tools/PatchFiles';
import { Todos } from '../content/tools/Todos';
import { ToolBody } from '../content/tools/ToolBody';
import {
  type Call,
  changesOf,
  isEdit,
  type Said,
  say,
  sayAsked,
  sayList,
  sayUnanswered,
  tallyOf,
} from '../content/tools/toolSummary';
import { counted } from '../lib/format';
import { shortPath } from '../lib/paths';
import { plain } from '../lib/sanitize';
import { Fold } from './Collapsible';
import { useReader } from './context';
import { MessageMenu } from './MessageMenu';
import { callOf, type ToolRow, type ToolsRow } from './rows/rows';
import { isSubagent } from './rows/subagents';
import { Subagent } from './Subagent';

/** A call in one line: verb, object, outcome. */
export function Tool({ row }: { row: ToolRow }) {
  const { waiting, unanswered, workdir } = useReader();
  const call = callOf(row);
  const asks = row.running && waiting.value.has(row.use.id);
  const left = !row.running && row.result === null && unanswered.value.has(row.use.id);
  return (
    <Fold
      name={row.key}
      class="tool"
      summary={<Summary said={asks ? sayAsked(call) : left ? sayUnanswered(call) : say(call)} />}
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
    </Fold>
  );
}

export function Summary({ said }: { said: Said }) {
  const { workdir } = useReader();
  const object = firstLine(said.object);
  return (
    <>
      <span class="tool-verb">{said.verb}</span>
      {said.as === 'words' ? (
        <span class="tool-object" dir="auto" title={said.object}>
          {object}
        </span>
      ) : (
        <code class="tool-object" dir="ltr" title={said.object}>
          {said.as === 'path' ? shortPath(object, workdir) : object}
        </code>
      )}
      <span class="tool-outcome" data-tone={said.tone}>
        {said.tally ? <Tally {...said.tally} /> : said.outcome}
      </span>
    </>
  );
}

function firstLine(text: string): string {
  const [first = '', ...rest] = text.trimStart().slice(0, 400).split('\n');
  return rest.length > 0 ? `${first} …` : first;
}

/** Many calls of one kind, told as one. */
export function Tools({ row }: { row: ToolsRow }) {
  const last = row.calls.at(-1);
  if (last && last.tasks.length > 0) return <List name={row.key} last={last} />;
  const calls = row.calls.map(callOf);
  return (
    <Fold name={row.key} class="tool" summary={<Gathered calls={calls} />}>
      {() => (
        <>
          <Every calls={row.calls} />
          {row.calls.map((each) => (
            <Tool key={each.key} row={each} />
          ))}
        </>
      )}
    </Fold>
  );
}

/** All of them at once: sixty files are not to be opened one by one. */
function Every({ calls }: { calls: readonly ToolRow[] }) {
  const { folds, hold } = useReader();
  const all = calls.map(({ key }) => folds.of(key));
  return (
    <div class="diff-files">
      <UnfoldAll
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
    <Fold name={name} class="tool" summary={<Summary said={sayList(tasks)} />}>
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
    </Fold>
  );
}

function Gathered({ calls }: { calls: readonly Call[] }) {
  const name = calls[0]?.name ?? '';
  const objects = new Set(calls.map((call) => say(call).object));
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
        {plain(names)}
      </code>
      <span class="tool-outcome">{edits && <Tally {...summed(calls)} />}</span>
    </>
  );
}

function summed(calls: readonly Call[]): { added: number; removed: number } {
  const sum = { added: 0, removed: 0 };
  for (const call of calls) {
    const { added, removed } = tallyOf(changesOf(call));
    sum.added += added;
    sum.removed += removed;
  }
  return sum;
}
