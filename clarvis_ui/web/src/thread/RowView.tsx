import { Component, type ComponentChildren } from 'preact';
import { comparedHref } from '../app/routes';
import { Markdown } from '../content/Markdown';
import { TerminalOutput } from '../content/tools/TerminalOutput';
import { counted, fullTime } from '../lib/format';
import { stripControls } from '../lib/sanitize';
import { memo } from '../ui/memo';
import { Collapsible } from './Collapsible';
import { useThreadContext } from './context';
import { MessageMenu } from './MessageMenu';
import { Prompt } from './Prompt';
import type { PlacedRow } from './rows/chunks';
import type { BranchRow, CommandRow, LineRow, Row, TextRow } from './rows/rows';
import { NestedRows } from './Subagent';
import { ToolCalls, ToolCallView } from './ToolCalls';
import './rows.css';

/** One row of the conversation, drawn again only when it changed. */
export const RowView = memo(
  function RowView({ placed: { row, joined } }: { placed: PlacedRow }) {
    return (
      <div class="thread-row" data-row={row.key} data-kind={row.kind} data-joined={joined}>
        <Guarded row={row}>
          <Content row={row} />
        </Guarded>
      </div>
    );
  },
  ({ placed: one }, { placed: other }) => one.row === other.row && one.joined === other.joined,
);

/** A row that cannot be drawn says so; all others are drawn. */
class Guarded extends Component<{ row: Row; children: ComponentChildren }, { broken: boolean }> {
  override state = { broken: false };

  override componentDidCatch(): void {
    this.setState({ broken: true });
  }

  render() {
    if (!this.state.broken) return this.props.children;
    return <p class="quiet-line bad">This message cannot be shown ({this.props.row.kind}).</p>;
  }
}

function Content({ row }: { row: Row }) {
  switch (row.kind) {
    case 'prompt':
      return <Prompt row={row} />;
    case 'text':
      return <Reply row={row} />;
    case 'thinking':
      return <Thinking name={row.key} text={row.text} uuid={row.uuid} />;
    case 'tool':
      return <ToolCallView row={row} />;
    case 'tools':
      return <ToolCalls row={row} />;
    case 'command':
      return <SlashCommand row={row} />;
    case 'line':
      return <Line row={row} />;
    case 'branch':
      return (
        <Collapsible
          name={row.key}
          class="branch"
          summary={
            <span>
              {counted(row.messages.length, 'message')} of a path that was left by going back
            </span>
          }
        >
          {() => <LeftPath row={row} />}
        </Collapsible>
      );
    case 'time':
      return (
        <p class="time">
          <time dateTime={row.timestamp}>{fullTime(row.timestamp)}</time>
        </p>
      );
    default:
      return row satisfies never;
  }
}

/** The messages of a left path, and a link to compare it with the current one. */
function LeftPath({ row: { messages } }: { row: BranchRow }) {
  const { sessionId: session } = useThreadContext();
  const tip = messages[0]?.branch ?? null;
  const href = comparedHref({ one: { session, tip: null }, other: { session, tip } });
  return (
    <>
      <p class="quiet-line">
        <a href={href}>Beside the path that was taken</a>
      </p>
      <NestedRows messages={messages} running={false} />
    </>
  );
}

function Reply({ row }: { row: TextRow }) {
  return (
    <article class="reply" aria-label="Claude">
      <Markdown text={row.text} />
      <MessageMenu uuid={row.uuid} timestamp={row.message.timestamp} text={row.text} />
    </article>
  );
}

export function Thinking({
  name,
  text,
  uuid,
  now = false,
}: {
  name: string;
  text: string;
  uuid?: string;
  now?: boolean;
}) {
  if (!text) return <p class="quiet-line">Thinking…</p>;
  return (
    <Collapsible
      name={name}
      class="thinking"
      summary={<span>{now ? 'Thinking…' : 'Thought'}</span>}
    >
      {() => (
        <>
          <Markdown text={text} growing={now} />
          {uuid && <MessageMenu uuid={uuid} timestamp={null} text={text} />}
        </>
      )}
    </Collapsible>
  );
}

function SlashCommand({ row }: { row: CommandRow }) {
  const typed = <code dir="ltr">{stripControls(row.typed ?? 'Output of a command')}</code>;
  const menu = (
    <MessageMenu uuid={row.uuid} timestamp={null} text={row.output ?? row.typed ?? ''} />
  );
  if (!row.output) return <Plain className="" words={typed} menu={menu} />;
  return (
    <Collapsible name={row.key} class="aside" summary={typed}>
      {() => (
        <>
          <TerminalOutput text={row.output ?? ''} />
          {menu}
        </>
      )}
    </Collapsible>
  );
}

function Line({ row }: { row: LineRow }) {
  const words = <span dir="auto">{row.words}</span>;
  const { detail } = row;
  const className = { quiet: 'aside', bad: 'aside bad', edge: 'edge' }[row.tone];
  const menu = <MessageMenu uuid={row.uuid} timestamp={null} text={detail ?? row.words} />;
  if (!detail) return <Plain className={className} words={words} menu={menu} />;
  return (
    <Collapsible name={row.key} class={className} summary={words}>
      {() => (
        <>
          <Markdown text={detail} />
          {menu}
        </>
      )}
    </Collapsible>
  );
}

/** A line with nothing to unfold. */
function Plain({
  className,
  words,
  menu,
}: Record<'words' | 'menu', ComponentChildren> & { className: string }) {
  return (
    <div class="plain">
      <p class={`quiet-line ${className}`}>{words}</p>
      {menu}
    </div>
  );
}
