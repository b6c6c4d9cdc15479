import type { RefObject } from 'preact';
import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks';
import {
  type ListIndex,
  ROW_HEIGHT,
  scrollToReveal,
  scrollToShow,
  steadyTop,
  topOf,
} from './listLayout';

export interface ListScroll {
  /** To the row, so that it is safe to draw from; changes only every other row. */
  top: number;
  height: number;
  onScroll(): void;
  /** Bring a row into sight. */
  show(id: string): void;
}

/** Scrolling of the list: what is in sight, kept steady while the list changes. */
export function useListScroll(
  box: RefObject<HTMLElement | null>,
  index: ListIndex,
  /** Another list, by its words or its order, starts at its top. */
  list: { query: string; order: string },
  selectedId: string | null,
): ListScroll {
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(window.innerHeight);
  // the last place we know of: asked for after the list has shrunk, the browser tells another
  const exactTop = useRef(0);
  const before = useRef<{ index: ListIndex; query: string; order: string } | null>(null);
  const revealed = useRef<string | null>(null);
  const { query, order } = list;

  const noteTop = useCallback((next: number) => {
    exactTop.current = next;
    setTop(Math.floor(next / ROW_HEIGHT) * ROW_HEIGHT);
  }, []);

  const moveTo = useCallback(
    (next: number) => {
      if (!box.current) return;
      box.current.scrollTop = next;
      noteTop(box.current.scrollTop);
    },
    [box, noteTop],
  );

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    setHeight(element.clientHeight);
    return () => observer.disconnect();
  }, [box]);

  useLayoutEffect(() => {
    const was = before.current;
    before.current = { index, query, order };
    let next = exactTop.current;
    if (was && (was.query !== query || was.order !== order)) {
      next = 0;
      // of the whole list one wants to see where one is
      if (query.trim() === '') revealed.current = null;
    } else if (was) next = steadyTop(was.index, index, next, height, selectedId);

    const rowTop = selectedId === null ? null : topOf(index, selectedId);
    if (rowTop !== null && revealed.current !== selectedId) {
      next = scrollToReveal(rowTop, next, box.current?.clientHeight ?? height);
      revealed.current = selectedId;
    } else if (selectedId === null || (rowTop === null && query.trim() === '')) {
      // when it comes, or comes back, one wants to see it
      revealed.current = null;
    }
    moveTo(next);
  }, [index, query, order, selectedId, height, box, moveTo]);

  return {
    top,
    height,
    onScroll() {
      if (box.current) noteTop(box.current.scrollTop);
    },
    show(id) {
      const rowTop = topOf(index, id);
      if (rowTop !== null) moveTo(scrollToShow(rowTop, exactTop.current, height));
    },
  };
}
