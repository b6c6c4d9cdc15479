import { useMemo } from 'preact/hooks';
import { relativeTo } from '../../lib/paths';
import { revealInvisible, stripControls } from '../../lib/sanitize';
import { type Fields, fieldsOf, listOf, prettyJson, stringOf } from '../blocks';
import { Diff } from '../Diff';
import { parsePatch } from '../diff';
import { ExpandScope } from '../expandState';
import { Images } from '../Images';
import { Link, Markdown } from '../Markdown';
import { PatchFiles } from './PatchFiles';
import { ShellCommand } from './ShellCommand';
import { TerminalOutput } from './TerminalOutput';
import { Todos } from './Todos';
import { changesOf, type ToolCall, todosOf } from './toolSummary';
import './tool.css';

/** A tool call in full: its input and its result. */
export function ToolBody({ call, workdir }: { call: ToolCall; workdir: string | null }) {
  return (
    <div class="tool-body">
      <Given call={call} workdir={workdir} />
      <Came call={call} />
    </div>
  );
}

function Given({ call, workdir }: { call: ToolCall; workdir: string | null }) {
  const { name, input } = call;
  switch (name) {
    case 'Bash':
    case 'PowerShell':
      return (
        <ShellCommand command={stringOf(input.command)} description={stringOf(input.description)} />
      );
    case 'Edit':
    case 'MultiEdit':
    case 'Write':
    case 'NotebookEdit':
      return changesOf(call).map((change, at) => (
        <ExpandScope key={at} name={`change ${at}`}>
          <Diff {...change} path={relativeTo(change.path, workdir)} />
        </ExpandScope>
      ));
    case 'TodoWrite':
      return <Todos todos={todosOf(input)} />;
    case 'WebFetch':
      return (
        <>
          <p class="tool-given">
            <Link href={stringOf(input.url)}>{stripControls(stringOf(input.url))}</Link>
          </p>
          <Prose text={stringOf(input.prompt)} />
        </>
      );
    case 'Task':
    case 'Agent':
      return <Prose text={stringOf(input.prompt)} />;
    case 'ExitPlanMode':
      return <Markdown text={stringOf(input.plan)} />;
    case 'AskUserQuestion':
      return <Questions input={input} />;
    case 'SendMessage':
      return <Prose text={stringOf(input.message) || stringOf(input.content)} />;
    case 'Read':
    case 'LS':
      return <Facts input={input} />;
    default:
      return Object.values(input).every(isShort) ? (
        <Facts input={input} />
      ) : (
        <TerminalOutput text={prettyJson(input)} label="Input" />
      );
  }
}

function isShort(value: unknown): boolean {
  return typeof value === 'string'
    ? value.length < 200 && !value.includes('\n')
    : typeof value !== 'object';
}

function Prose({ text }: { text: string }) {
  return text ? (
    <p class="tool-prose" dir="auto">
      {stripControls(text)}
    </p>
  ) : null;
}

function Facts({ input }: { input: Fields }) {
  const facts = Object.entries(input);
  if (facts.length === 0) return null;
  return (
    <dl class="tool-facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{stripControls(name)}</dt>
          <dd>
            <code dir="ltr">
              {revealInvisible(typeof value === 'string' ? value : prettyJson(value))}
            </code>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Questions({ input }: { input: Fields }) {
  return listOf(input.questions)
    .map(fieldsOf)
    .map((question, at) => (
      <div key={at} class="tool-question">
        <p dir="auto">{stripControls(stringOf(question.question))}</p>
        <ul>
          {listOf(question.options)
            .map(fieldsOf)
            .map((option, each) => (
              <li key={each} dir="auto">
                {stripControls(stringOf(option.label))}
              </li>
            ))}
        </ul>
      </div>
    ));
}

const ERROR_WRAP = /^<tool_use_error>([\s\S]*)<\/tool_use_error>\s*$/;

function Came({ call }: { call: ToolCall }) {
  const { name, result } = call;
  if (!result) return <p class="no-output">{call.running ? 'Still running…' : 'No result'}</p>;
  const text = (ERROR_WRAP.exec(result.text)?.[1] ?? result.text).replace(
    /\n*<system-reminder>[\s\S]*?<\/system-reminder>\s*$/,
    '',
  );
  return (
    <>
      <Images images={result.images} />
      {(text || result.images.length === 0) && (
        <Result name={name} text={text} failed={result.isError} denied={call.deniedBy !== null} />
      )}
    </>
  );
}

interface ResultProps {
  name: string;
  text: string;
  failed: boolean;
  denied: boolean;
}

function Result({ name, text, failed, denied }: ResultProps) {
  // the reason of the person who denied it
  if (denied) return <Prose text={text} />;
  if (failed) return <TerminalOutput text={text} failed />;
  switch (name) {
    case 'Edit':
    case 'MultiEdit':
    case 'Write':
    case 'NotebookEdit':
    case 'TodoWrite':
    case 'ExitPlanMode':
      return null; // "has been updated", "has been approved": the row says so
    case 'Task':
    case 'Agent':
    case 'WebFetch':
    case 'WebSearch':
    case 'AskUserQuestion':
      return <Markdown text={text} />;
    case 'Bash':
      return <ShellOutput text={text} />;
    default:
      return <TerminalOutput text={formattedJson(text)} />;
  }
}

/** JSON in one line cannot be read. */
function formattedJson(text: string): string {
  if (!/^\s*[[{]/.test(text) || text.length > 500_000) return text;
  try {
    return prettyJson(JSON.parse(text));
  } catch {
    return text;
  }
}

function ShellOutput({ text }: { text: string }) {
  const files = useMemo(() => parsePatch(stripControls(text)), [text]);
  if (!files) return <TerminalOutput text={text} />;
  return <PatchFiles files={files} />;
}
