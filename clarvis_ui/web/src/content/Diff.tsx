import { useMemo } from 'preact/hooks';
import { counted } from '../lib/format';
import { spelledOut } from '../lib/sanitize';
import { type Comparison, compare, type Gap, type Line, type Part, withGaps } from './diff';
import { useFolds } from './expandState';
import { More } from './ShowMore';
import './diff.css';

export interface DiffProps {
  path: string;
  before: string;
  after: string;
}

/** What an edit changes, in full; stretches that stay the same are folded. */
export function Diff({ path, before, after }: DiffProps) {
  const comparison = useMemo(() => compare(before, after), [before, after]);
  return (
    <section class="diff" aria-label={`Changes to ${spelledOut(path)}`}>
      <DiffHead path={path} {...comparison} />
      <DiffLines lines={comparison.lines} />
    </section>
  );
}

export function DiffHead({ path, added, removed }: Omit<Comparison, 'lines'> & { path: string }) {
  return (
    <header class="diff-head">
      <code dir="ltr">{spelledOut(path)}</code>
      <Tally added={added} removed={removed} />
    </header>
  );
}

/** "+3 −1"; said in words to those who cannot see it. */
export function Tally({ added, removed }: { added: number; removed: number }) {
  return (
    <span class="diff-tally">
      <span class="spoken">
        {counted(added, 'line')} added, {removed} removed
      </span>
      <span aria-hidden="true">
        <span class="tally-added">+{added}</span> <span class="tally-removed">−{removed}</span>
      </span>
    </span>
  );
}

/** More than this many lines are shown only when asked for. */
const MOST_LINES = 400;

export function DiffLines({ lines }: { lines: readonly Line[] }) {
  const shown = useMemo(() => withGaps(lines), [lines]);
  const all = useFolds()('all');
  const some = all.value ? shown : shown.slice(0, MOST_LINES);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: wide lines are scrolled with the keys */}
      <div class="diff-lines" dir="ltr" tabIndex={0}>
        <div class="diff-inner">
          {some.map((line, at) =>
            line.kind === 'gap' ? (
              <GapLines key={at} name={`gap ${at}`} gap={line} />
            ) : (
              <DiffLine key={at} {...line} />
            ),
          )}
        </div>
      </div>
      {some.length < shown.length && (
        <More fold={all}>Show all {counted(lines.length, 'line')}</More>
      )}
    </>
  );
}

function GapLines({ name, gap }: { name: string; gap: Gap }) {
  const open = useFolds()(name);
  if (open.value) return gap.lines.map((line, at) => <DiffLine key={at} {...line} />);
  return (
    <More fold={open} kind="diff-gap">
      {counted(gap.lines.length, 'unchanged line')}
    </More>
  );
}

const SIGNS = { same: ' ', added: '+', removed: '-' } as const;

function DiffLine({ kind, parts }: Line) {
  return (
    <div class={`diff-line ${kind}`}>
      <span class="diff-sign">{SIGNS[kind]}</span>
      {kind === 'same' ? spelledOut(parts.map((part) => part.text).join('')) : parts.map(word)}
      {'\n'}
    </div>
  );
}

function word(part: Part, at: number) {
  const text = spelledOut(part.text);
  return part.changed ? <mark key={at}>{text}</mark> : text;
}
