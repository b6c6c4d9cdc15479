import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type ListIndex, rowAfterKey } from './listLayout';

export interface RowFocus {
  /** The row that was last focused; Tab leads back to it. */
  cursor: string | null;
  onRowFocus(id: string): void;
  onKeyDown(event: KeyboardEvent): void;
  goTo(id: string): void;
  focusFirst(): void;
}

/** One Tab stop for the whole list, arrows inside it, though most of its rows are not drawn. */
export function useRowFocus(
  box: RefObject<HTMLElement | null>,
  index: ListIndex,
  show: (id: string) => void,
): RowFocus {
  const [cursor, setCursor] = useState<string | null>(null);
  const wanted = useRef<string | null>(null);
  const hadFocus = box.current?.contains(document.activeElement) ?? false;

  useLayoutEffect(() => {
    const id = wanted.current;
    if (id !== null) {
      wanted.current = null;
      const row = box.current?.querySelector<HTMLElement>(`[data-session="${CSS.escape(id)}"]`);
      row?.focus({ preventScroll: true });
    } else if (hadFocus && document.activeElement === document.body) {
      // the focused row was scrolled out of sight and is no longer drawn: arrows must still work
      box.current?.focus({ preventScroll: true });
    }
  });

  function goTo(id: string): void {
    wanted.current = id;
    show(id);
    setCursor(id);
  }

  return {
    cursor,
    onRowFocus: setCursor,
    onKeyDown(event) {
      if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
      const next = rowAfterKey(index, cursor, event.key);
      if (next === null) return;
      event.preventDefault();
      goTo(next);
    },
    goTo,
    focusFirst() {
      const first = index.order[0];
      if (first !== undefined) goTo(first);
    },
  };
}
