import { createContext } from 'preact';
import { useContext, useMemo } from 'preact/hooks';
import { counted } from '../../lib/format';
import { useExpandState } from '../expandState';
import { ShowMore } from '../ShowMore';
import { spansOf } from './ansi';
import './ansi.css';
import './terminal-output.css';

export interface TerminalOutputProps {
  text: string;
  label?: string;
  failed?: boolean;
}

const HEAD = 24;
const TAIL = 24;
const LINES_A_PIECE = 200;
const MAX_LINE = 4000;

/** The text that the reader searches for. Output that contains it is not shortened. */
export const SearchedText = createContext('');

/** A tool's output as a terminal shows it. Long output is shortened in the middle. */
export function TerminalOutput({ text, label = 'Output', failed = false }: TerminalOutputProps) {
  const all = useExpandState()(label);
  const sought = useContext(SearchedText);
  const lines = useMemo(() => text.replace(/\s+$/, '').split('\n').map(shortened), [text]);
  const hidden = lines.length - HEAD - TAIL;
  if (text.trim() === '') return <p class="no-output">No output</p>;
  const cut = !all.value && hidden > 8 && !holds(lines.slice(HEAD, -TAIL), sought);
  return (
    <section class="output" data-failed={failed} aria-label={label} dir="ltr">
      {cut ? (
        <>
          <Lines text={lines.slice(0, HEAD).join('\n')} />
          <ShowMore fold={all}>Show all {counted(lines.length, 'line')}</ShowMore>
          <Lines text={lines.slice(-TAIL).join('\n')} />
        </>
      ) : (
        <AllLines lines={lines} />
      )}
    </section>
  );
}

function holds(lines: readonly string[], sought: string): boolean {
  return sought !== '' && lines.some((line) => line.toLowerCase().includes(sought));
}

function shortened(line: string): string {
  if (line.length <= MAX_LINE) return line;
  return `${line.slice(0, MAX_LINE)} … ${counted(line.length - MAX_LINE, 'more character')}`;
}

/** Far parts of a long output are not laid out before they come near. */
function AllLines({ lines }: { lines: readonly string[] }) {
  if (lines.length <= LINES_A_PIECE) return <Lines text={lines.join('\n')} />;
  const parts: { text: string; amount: number }[] = [];
  for (let at = 0; at < lines.length; at += LINES_A_PIECE) {
    const some = lines.slice(at, at + LINES_A_PIECE);
    parts.push({ text: some.join('\n'), amount: some.length });
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: long output is scrolled with the keys
    <div class="output-all" tabIndex={0}>
      {parts.map((part, at) => (
        <div
          key={at}
          class="output-part"
          style={{ containIntrinsicSize: `auto ${part.amount * 19.5}px` }}
        >
          <Lines text={part.text} />
        </div>
      ))}
    </div>
  );
}

function Lines({ text }: { text: string }) {
  const spans = useMemo(() => spansOf(text), [text]);
  return (
    <pre>
      {spans.map((span, at) =>
        span.className ? (
          <span key={at} class={span.className}>
            {span.text}
          </span>
        ) : (
          span.text
        ),
      )}
    </pre>
  );
}
