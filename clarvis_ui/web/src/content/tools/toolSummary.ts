import type { Denier } from '../../api/messages';
import { count, counted } from '../../lib/format';
import { stripControls } from '../../lib/sanitize';
import { requestWords } from '../../sessions/labels';
import { type Fields, fieldsOf, listOf, stringOf, type ToolResult } from '../blocks';
import { compare } from '../diff';

/** The summary of a tool call in one line: verb, object, outcome. */

export interface ToolCall {
  id: string;
  name: string;
  input: Fields;
  /** Null while it runs, or if the turn ended without one. */
  result: ToolResult | null;
  /** Who denied the call; null if nobody did. */
  deniedBy: Denier | null;
  /** The name of a task whose number is in the input. */
  task?: string | null;
  running: boolean;
}

export type SummaryTone = 'quiet' | 'running' | 'asks' | 'good' | 'bad';

export interface ToolSummary {
  verb: string;
  object: string;
  /** How the object is set: a path is shortened from the front, code is monospaced. */
  as: 'path' | 'code' | 'words';
  outcome: string;
  tone: SummaryTone;
  tally: { added: number; removed: number } | null;
}

type Words = Pick<ToolSummary, 'verb' | 'object' | 'as'> & {
  /** The verb while it runs. */
  doing: string;
  outcome?: (result: ToolResult) => string;
};

export function summarize(call: ToolCall): ToolSummary {
  const words = wordsOf(call);
  const { result } = call;
  const base = { object: stripControls(words.object), as: words.as, tally: null };
  if (!result) {
    return call.running
      ? { ...base, verb: words.doing, outcome: 'running…', tone: 'running' }
      : // it may have been cut off before it began
        { ...base, verb: wantedOf(call) ?? words.doing, outcome: 'no result', tone: 'quiet' };
  }
  const refused = refusalOf(call, result);
  if (refused) {
    return { ...base, verb: wantedOf(call) ?? words.verb, outcome: refused, tone: 'quiet' };
  }
  if (/^\[Request interrupted/.test(result.text)) {
    return { ...base, verb: words.verb, outcome: 'interrupted', tone: 'quiet' };
  }
  if (result.isError) {
    return { ...base, verb: words.verb, outcome: failureOf(result.text), tone: 'bad' };
  }
  const changes = isEdit(call.name) ? changesOf(call) : null;
  const outcome = changes ? '' : stripControls(words.outcome?.(result) ?? 'done');
  return {
    ...base,
    verb: words.verb,
    outcome,
    tone: toneOf(outcome),
    tally: changes && tallyOf(changes),
  };
}

/** A call that begins only once the person has answered. */
export function summarizePending(call: ToolCall): ToolSummary {
  const pendingWords = requestWords(call.name);
  const summary = summarize(call);
  return { ...summary, verb: pendingWords ?? summary.verb, outcome: 'waits for you', tone: 'asks' };
}

/** A call that waited for permission when its turn was interrupted: nobody allowed it. */
export function summarizeUnanswered(call: ToolCall): ToolSummary {
  return { ...summarize(call), outcome: 'not answered' };
}

/** What Claude wanted to do, and may not have done. */
function wantedOf({ name }: ToolCall): string | null {
  return requestWords(name)?.replace('Wants', 'Wanted') ?? null;
}

function toneOf(outcome: string): SummaryTone {
  if (/\bfailed$|\bfailed,/.test(outcome)) return 'bad';
  return outcome.endsWith(' passed') ? 'good' : 'quiet';
}

// ---- edits ----

export interface TextChange {
  path: string;
  before: string;
  after: string;
}

export function isEdit(name: string): boolean {
  return ['Edit', 'MultiEdit', 'Write', 'NotebookEdit'].includes(name);
}

const changesRead = new WeakMap<Fields, TextChange[]>();

/** The old and new texts of an edit. The old text of a wholly written file is unknown. */
export function changesOf({ name, input }: Pick<ToolCall, 'name' | 'input'>): TextChange[] {
  let changes = changesRead.get(input);
  if (!changes) {
    changes = readChanges(name, input);
    changesRead.set(input, changes);
  }
  return changes;
}

function readChanges(name: string, input: Fields): TextChange[] {
  const path = stringOf(input.file_path) || stringOf(input.notebook_path);
  const edit = (raw: Fields): TextChange => ({
    path,
    before: stringOf(raw.old_string),
    after: stringOf(raw.new_string),
  });
  switch (name) {
    case 'Edit':
      return [edit(input)];
    case 'MultiEdit':
      return listOf(input.edits).map((each) => edit(fieldsOf(each)));
    case 'Write':
      return [{ path, before: '', after: stringOf(input.content) }];
    case 'NotebookEdit':
      return [{ path, before: '', after: stringOf(input.new_source) }];
    default:
      return [];
  }
}

const tallied = new WeakMap<readonly TextChange[], { added: number; removed: number }>();

export function tallyOf(changes: readonly TextChange[]): { added: number; removed: number } {
  let tally = tallied.get(changes);
  if (!tally) {
    tally = { added: 0, removed: 0 };
    for (const { before, after } of changes) {
      const { added, removed } = compare(before, after);
      tally.added += added;
      tally.removed += removed;
    }
    tallied.set(changes, tally);
  }
  return tally;
}

// ---- outcomes ----

/** How the call was denied. The person's reason is in the result. */
function refusalOf({ name, deniedBy }: ToolCall, { text, isError }: ToolResult): string | null {
  // older transcripts say it in words alone; what a command printed is no such word
  const denied = isError && /^The user doesn't want to (?:proceed|take this action)/.test(text);
  if (deniedBy === 'rule' && !denied) return 'not allowed';
  if (deniedBy === null && !denied) return null;
  if (name === 'ExitPlanMode') return 'sent back';
  return name === 'AskUserQuestion' ? 'not answered' : 'denied';
}

function failureOf(text: string): string {
  const code = /^(?:Error: )?Exit code (\d+)/.exec(text)?.[1];
  const tests = testsOf(text);
  if (code) return tests || `failed · exit ${code}`;
  return tests || 'failed';
}

/** The last line of a test runner. */
function testsOf(text: string): string {
  const tail = stripControls(text.slice(-3000));
  const parts = ['failed', 'passed'].flatMap((word) => {
    const match = [...tail.matchAll(new RegExp(`\\b(\\d+) ${word}\\b`, 'g'))].at(-1)?.[1];
    return match && match !== '0' ? [`${count(Number(match))} ${word}`] : [];
  });
  return parts.join(', ');
}

/** What Claude Code writes down for a command that printed nothing. */
const SAID_NOTHING = '(Bash completed with no output)';

function lineCount(text: string): number {
  const trimmed = text.replace(/\s+$/, '');
  const hasOutput = trimmed !== '' && trimmed !== SAID_NOTHING;
  return hasOutput ? trimmed.split('\n').length : 0;
}

function lines(result: ToolResult): string {
  const amount = lineCount(result.text);
  return amount === 0 ? 'no output' : counted(amount, 'line');
}

function fileLines({ text, images }: ToolResult): string {
  if (images.length > 0) return counted(images.length, 'image');
  return counted(lineCount(text.replace(/\n*<system-reminder>[\s\S]*$/, '')), 'line');
}

function matchCount(what: string, many: string) {
  return ({ text }: ToolResult) => {
    if (/^No (?:files|matches) found/.test(text)) return `no ${many}`;
    const reported = /^Found (\d+)/.exec(text)?.[1];
    return counted(reported ? Number(reported) : lineCount(text), what, many);
  };
}

// ---- what each tool does ----

function wordsOf({ name, input, task = null }: ToolCall): Words {
  const path = stringOf(input.file_path) || stringOf(input.notebook_path) || stringOf(input.path);
  switch (name) {
    case 'Read':
      return { verb: 'Read', doing: 'Reading', object: path, as: 'path', outcome: fileLines };
    case 'Edit':
    case 'MultiEdit':
    case 'NotebookEdit':
      return { verb: 'Edited', doing: 'Editing', object: path, as: 'path' };
    case 'Write':
      return { verb: 'Wrote', doing: 'Writing', object: path, as: 'path' };
    case 'Bash':
    case 'PowerShell':
      return {
        verb: 'Ran',
        doing: 'Running',
        object: withoutCd(stringOf(input.command)),
        as: 'code',
        outcome: (result) =>
          input.run_in_background === true
            ? 'in the background'
            : testsOf(result.text) || lines(result),
      };
    case 'Grep':
      return {
        verb: 'Searched',
        doing: 'Searching',
        object: stringOf(input.pattern),
        as: 'code',
        outcome:
          input.output_mode === 'content'
            ? matchCount('match', 'matches')
            : matchCount('file', 'files'),
      };
    case 'Glob':
      return {
        verb: 'Looked for',
        doing: 'Looking for',
        object: stringOf(input.pattern),
        as: 'code',
        outcome: matchCount('file', 'files'),
      };
    case 'LS':
      return { verb: 'Listed', doing: 'Listing', object: path, as: 'path', outcome: lines };
    case 'LSP':
      return {
        verb: 'Looked up',
        doing: 'Looking up',
        object: `${stringOf(input.operation)} ${stringOf(input.filePath)}`,
        as: 'code',
      };
    case 'WebFetch':
      return { verb: 'Fetched', doing: 'Fetching', object: stringOf(input.url), as: 'code' };
    case 'WebSearch':
      return {
        verb: 'Searched the web',
        doing: 'Searching the web',
        object: stringOf(input.query),
        as: 'words',
      };
    case 'TodoWrite':
      return {
        verb: 'Updated the list',
        doing: 'Updating the list',
        object: todosOf(input).find(isUnderWay)?.words ?? '',
        as: 'words',
        outcome: () => todosDone(todosOf(input)),
      };
    default:
      return rarerWords(name, input, task);
  }
}

/** Drops a leading `cd`: the command itself says more. */
function withoutCd(command: string): string {
  return command.replace(/^\s*cd (?:"[^"\n]*"|'[^'\n]*'|[^\s;&|]+) && (?=\S)/, '');
}

// ---- lists of things to do ----

export interface Todo {
  words: string;
  status: string;
}

export function todosOf(input: Fields): Todo[] {
  return listOf(input.todos)
    .map(fieldsOf)
    .map((todo) => ({ words: stringOf(todo.content), status: stringOf(todo.status) || 'pending' }));
}

function isUnderWay({ status }: Todo): boolean {
  return status === 'in_progress';
}

function todosDone(todos: readonly Todo[]): string {
  const done = todos.filter(({ status }) => status === 'completed').length;
  return `${count(done)} of ${count(todos.length)} done`;
}

/** Calls that each changed a part of a list, by what the list is after them. */
export function summarizeTasks(todos: readonly Todo[]): ToolSummary {
  return {
    verb: 'Updated the list',
    object: stripControls(todos.find(isUnderWay)?.words ?? ''),
    as: 'words',
    outcome: todosDone(todos),
    tone: 'quiet',
    tally: null,
  };
}

function rarerWords(name: string, input: Fields, task: string | null): Words {
  const plainly = (verb: string, doing: string, object: unknown): Words => ({
    verb,
    doing,
    object: typeof object === 'number' ? String(object) : stringOf(object),
    as: 'words',
  });
  switch (name) {
    case 'Task':
    case 'Agent':
      return {
        ...plainly('Agent', 'Agent', input.description ?? input.subagent_type),
        outcome: () => (input.run_in_background === true ? 'in the background' : 'done'),
      };
    case 'TaskCreate':
      return plainly('Added a task', 'Adding a task', input.subject);
    case 'TaskUpdate':
      return {
        ...plainly('Updated a task', 'Updating a task', task ?? `#${stringOf(input.taskId)}`),
        outcome: () => stringOf(input.status).replaceAll('_', ' '),
      };
    case 'TaskList':
    case 'TaskGet':
      return plainly('Looked at the tasks', 'Looking at the tasks', input.taskId);
    case 'BashOutput':
    case 'TaskOutput':
    case 'AgentOutputTool':
      return plainly('Looked at output of', 'Waiting for', input.bash_id ?? input.task_id);
    case 'KillBash':
    case 'KillShell':
    case 'TaskStop':
      return plainly('Stopped', 'Stopping', input.shell_id ?? input.task_id);
    case 'AskUserQuestion':
      return {
        ...plainly('Asked', 'Asking', fieldsOf(listOf(input.questions)[0]).question),
        outcome: () => 'answered',
      };
    case 'ExitPlanMode':
      return { ...plainly('Proposed a plan', 'Proposing a plan', ''), outcome: () => 'approved' };
    case 'EnterPlanMode':
      return plainly('Began to plan', 'Beginning to plan', '');
    case 'Skill':
      return plainly('Used the skill', 'Using the skill', input.skill ?? input.command);
    case 'SlashCommand':
      return plainly('Ran', 'Running', input.command);
    case 'ToolSearch':
      return plainly('Looked for tools', 'Looking for tools', input.query);
    case 'SendMessage':
      return plainly('Wrote to', 'Writing to', input.to ?? input.recipient);
    default: {
      const verb = mcpName(name);
      const keyField = Object.values(input).find(
        (value) => typeof value === 'string' && value !== '' && value.length < 200,
      );
      return { verb, doing: verb, object: stringOf(keyField), as: 'code', outcome: lines };
    }
  }
}

/** `mcp__context7__query-docs` → "context7 · query-docs". */
function mcpName(name: string): string {
  const parts = /^mcp__(.+?)__(.+)$/.exec(name);
  return stripControls(parts ? `${parts[1]?.replaceAll('_', ' ')} · ${parts[2]}` : name);
}
