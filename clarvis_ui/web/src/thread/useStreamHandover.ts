import { effect, type ReadonlySignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Partial } from '../conversation/conversation';
import type { ExpandState } from '../lib/expanded';
import { restoreSelection, selectionIn, type TextSelection } from '../lib/selection';
import type { Row } from './rows/rows';
import { findRow } from './scroll/useVirtualScroll';

export interface StreamHandoverOptions {
  box: { current: HTMLElement | null };
  partial: ReadonlySignal<Partial | null>;
  /** The key of its row; null where nothing is being written. */
  writing: string | null;
  rows: readonly Row[];
  expandState: ExpandState;
}

/** What the person did with the block while it was written. */
interface Handover {
  text: string;
  unfolded: boolean;
  selected: TextSelection | null;
}

/** The row of a block that is being written. */
export function partialKey({ messageId, index }: Partial): string {
  return `partial/${messageId}/${index}`;
}

/** When the partial becomes a message, its row changes; expansion and selection move with it. */
export function useStreamHandover({
  box,
  partial,
  writing,
  rows,
  expandState,
}: StreamHandoverOptions): void {
  const before = useRef<Partial | null>(null);
  const handover = useRef<Handover | null>(null);

  // effects of signals run before the next drawing: the finished block is still on the page
  useLayoutEffect(
    () =>
      effect(() => {
        const last = before.current;
        const next = partial.value;
        before.current = next;
        if (!last || (next && partialKey(next) === partialKey(last))) return;
        const key = partialKey(last);
        handover.current = {
          text: last.text,
          unfolded: expandState.signalOf(key).peek(),
          selected: selectionIn(wordsOf(box.current, key)),
        };
      }),
    [partial, box, expandState],
  );

  useLayoutEffect(() => {
    const done = handover.current;
    if (!done) return;
    const row = rows.findLast((each) => each.kind === 'text' || each.kind === 'thinking');
    if (!row?.text.startsWith(done.text)) return;
    handover.current = null;
    if (done.unfolded) expandState.signalOf(row.key).value = true;
    restoreSelection(wordsOf(box.current, row.key), done.selected);
  }, [rows, writing, box, expandState]);
}

function wordsOf(box: HTMLElement | null, key: string): Element | null {
  return (box && findRow(box, key)?.querySelector('.markdown')) ?? null;
}
