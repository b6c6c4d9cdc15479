import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Partial } from '../conversation/conversation';
import type { Folds } from '../lib/expanded';
import { type Selected, select, selectedIn } from '../lib/selection';
import type { Row } from './rows/rows';
import { find } from './scroll/useVirtualScroll';

export interface HandoverIn {
  box: { current: HTMLElement | null };
  partial: Partial | null;
  rows: readonly Row[];
  folds: Folds;
}

/** What a person had done to a block while it was being written. */
interface Left {
  text: string;
  unfolded: boolean;
  selected: Selected | null;
}

/** The row of a block that is being written. */
export function partialKey({ messageId, index }: Partial): string {
  return `partial/${messageId}/${index}`;
}

/** A block that is written has another row as a message: what was unfolded or selected stays so. */
export function useHandover({ box, partial, rows, folds }: HandoverIn): void {
  const before = useRef<Partial | null>(null);
  const left = useRef<Left | null>(null);
  const was = before.current;
  const key = partial && partialKey(partial);
  if (was && partialKey(was) !== key) {
    // it is still on the page, and not for longer
    left.current = {
      text: was.text,
      unfolded: folds.of(partialKey(was)).peek(),
      selected: selectedIn(wordsOf(box.current, partialKey(was))),
    };
  }
  before.current = partial;

  useLayoutEffect(() => {
    const done = left.current;
    if (!done) return;
    const row = rows.findLast((each) => each.kind === 'text' || each.kind === 'thinking');
    if (!row?.text.startsWith(done.text)) return;
    left.current = null;
    if (done.unfolded) folds.of(row.key).value = true;
    select(wordsOf(box.current, row.key), done.selected);
  }, [rows, key, box, folds]);
}

function wordsOf(box: HTMLElement | null, key: string): Element | null {
  return (box && find(box, key)?.querySelector('.markdown')) ?? null;
}
