import { useMemo } from 'preact/hooks';
import { counted } from '../lib/format';
import { revealInvisible } from '../lib/sanitize';
import {
  compare,
  type DiffGap,
  type DiffLine,
  type DiffPart,
  type TextComparison,
  withGaps,
} from './diff';
import { useExpandState } from './expandState';
import { ShowMore } from './ShowMore';
import './diff.css';

/** The whole difference of an edit, with unchanged runs collapsed. */
export function Diff({ path, before, after }: { path: string; before: string; after: string }) {
  const comparison = useMemo(() => compare(before, after), [before, after]);
  return (
    <section class="diff" aria-label={`Changes to ${revealInvisible(path)}`}>
      <DiffHead path={path} {...comparison} />
      <DiffLines lines={comparison.lines} />
    </section>
  );
}

export function DiffHead({
  path,
  added,
  removed,
}: Omit<TextComparison, 'lines'> & { path: string }) {
  return (
    <header class="diff-head">
      <code dir="ltr">{revealInvisible(path)}</code>
      <Tally added={added} removed={removed} />
    </header>
  );
}

/** "+3 −1", and the same in words for screen readers. */
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
const MAX_LINES = 400;

export function DiffLines({ lines }: { lines: readonly DiffLine[] }) {
  const visible = useMemo(() => withGaps(lines), [lines]);
  const all = useExpandState()('all');
  const some = all.value ? visible : visible.slice(0, MAX_LINES);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: wide lines are scrolled with the keys */}
      <div class="diff-lines" dir="ltr" tabIndex={0}>
        <div class="diff-inner">
          {some.map((line, at) =>
            line.kind === 'gap' ? (
              <GapLines key={at} name={`gap ${at}`} gap={line} />
            ) : (
              <DiffLineView key={at} {...line} />
            ),
          )}
        </div>
      </div>
      {some.length < visible.length && (
        <ShowMore fold={all}>Show all {counted(lines.length, 'line')}</ShowMore>
      )}
    </>
  );
}

function GapLines({ name, gap }: { name: string; gap: DiffGap }) {
  const open = useExpandState()(name);
  if (open.value) return gap.lines.map((line, at) => <DiffLineView key={at} {...line} />);
  return (
    <ShowMore fold={open} kind="diff-gap">
      {counted(gap.lines.length, 'unchanged line')}
    </ShowMore>
  );
}

const SIGNS = { same: ' ', added: '+', removed: '-' } as const;

function DiffLineView({ kind, parts }: DiffLine) {
  return (
    <div class={`diff-line ${kind}`}>
      <span class="diff-sign">{SIGNS[kind]}</span>
      {kind === 'same' ? revealInvisible(parts.map((part) => part.text).join('')) : parts.map(word)}
      {'\n'}
    </div>
  );
}

function word(part: DiffPart, at: number) {
  const text = revealInvisible(part.text);
  return part.changed ? <mark key={at}>{text}</mark> : text;
}
