import { useMemo } from 'preact/hooks';
import { within } from '../../lib/paths';
import { plain, spelledOut } from '../../lib/sanitize';
import { type Fields, fieldsOf, listOf, pretty, textOf } from '../blocks';
import { Diff } from '../Diff';
import { parsePatch } from '../diff';
import { Within } from '../expandState';
import { Images } from '../Images';
import { Link, Markdown } from '../Markdown';
import { Files } from './PatchFiles';
import { Command } from './ShellCommand';
import { Output } from './TerminalOutput';
import { Todos } from './Todos';
import { type Call, changesOf, todosOf } from './toolSummary';
import './tool.css';

/** Everything about a call: what it was given, and what came of it. */
export function ToolBody({ call, workdir }: { call: Call; workdir: string | null }) {
  return (
    <div class="tool-body">
      <Given call={call} workdir={workdir} />
      <Came call={call} />
    </div>
  );
}

function Given({ call, workdir }: { call: Call; workdir: string | null }) {
  const { name, input } = call;
  switch (name) {
    case 'Bash':
    case 'PowerShell':
      return <Command command={textOf(input.command)} description={textOf(input.description)} />;
    case 'Edit':
    case 'MultiEdit':
    case 'Write':
    case 'NotebookEdit':
      return changesOf(call).map((change, at) => (
        <Within key={at} name={`change ${at}`}>
          <Diff {...change} path={within(change.path, workdir)} />
        </Within>
      ));
    case 'TodoWrite':
      return <Todos todos={todosOf(input)} />;
    case 'WebFetch':
      return (
        <>
          <p class="tool-given">
            <Link href={textOf(input.url)}>{plain(textOf(input.url))}</Link>
          </p>
          <Prose text={textOf(input.prompt)} />
        </>
      );
    case 'Task':
    case 'Agent':
      return <Prose text={textOf(input.prompt)} />;
    case 'ExitPlanMode':
      return <Markdown text={textOf(input.plan)} />;
    case 'AskUserQuestion':
      return <Questions input={input} />;
    case 'SendMessage':
      return <Prose text={textOf(input.message) || textOf(input.content)} />;
    case 'Read':
    case 'LS':
      return <Facts input={input} />;
    default:
      return Object.values(input).every(isShort) ? (
        <Facts input={input} />
      ) : (
        <Output text={pretty(input)} label="Input" />
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
      {plain(text)}
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
          <dt>{plain(name)}</dt>
          <dd>
            <code dir="ltr">{spelledOut(typeof value === 'string' ? value : pretty(value))}</code>
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
        <p dir="auto">{plain(textOf(question.question))}</p>
        <ul>
          {listOf(question.options)
            .map(fieldsOf)
            .map((option, each) => (
              <li key={each} dir="auto">
                {plain(textOf(option.label))}
              </li>
            ))}
        </ul>
      </div>
    ));
}

const ERROR_WRAP = /^<tool_use_error>([\s\S]*)<\/tool_use_error>\s*$/;

function Came({ call }: { call: Call }) {
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
  // why not, in the words of whoever said no
  if (denied) return <Prose text={text} />;
  if (failed) return <Output text={text} failed />;
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
      return <Output text={prettyJson(text)} />;
  }
}

/** JSON in one line cannot be read. */
function prettyJson(text: string): string {
  if (!/^\s*[[{]/.test(text) || text.length > 500_000) return text;
  try {
    return pretty(JSON.parse(text));
  } catch {
    return text;
  }
}

function ShellOutput({ text }: { text: string }) {
  const files = useMemo(() => parsePatch(plain(text)), [text]);
  if (!files) return <Output text={text} />;
  return <Files files={files} />;
}
