import { useEffect, useRef } from 'preact/hooks';
import type { Find } from './find/useFind';
import type { Row } from './rows/rows';
import { findRow, type VirtualScroll } from './scroll/useVirtualScroll';

/** How far one scrolls, in heights of the window, where nothing else has the focus. */
const PAGES: Readonly<Record<string, number>> = { PageUp: -0.9, PageDown: 0.9 };

export interface ThreadShortcutsOptions {
  box: { current: HTMLElement | null };
  rows: readonly Row[];
  window: VirtualScroll;
  find: Find;
  toBeginning(): void;
}

/**
 * Ctrl+F finds in the conversation; j and k walk from prompt to prompt; m leads to the field;
 * Home and End lead to its two ends, also where the first one is not loaded yet.
 */
export function useThreadShortcuts(where: ThreadShortcutsOptions): void {
  const live = useRef(where);
  live.current = where;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey) return;
      const { find } = live.current;
      const command = event.ctrlKey || event.metaKey;
      if (command && !event.shiftKey && event.key.toLowerCase() === 'f') {
        // asked for again in our own field: then the browser's own way is meant
        if (isFindField(event.target)) return;
        event.preventDefault();
        find.start();
      } else if (!command && !isTyping(event.target) && (event.key === 'j' || event.key === 'k')) {
        event.preventDefault();
        walk(live.current, event.key === 'j' ? 1 : -1);
      } else if (!command && !isTyping(event.target) && event.key === 'm') {
        event.preventDefault();
        document.querySelector<HTMLElement>('.composer textarea')?.focus();
      } else if (event.target === document.body && PAGES[event.key] !== undefined) {
        turn(live.current, PAGES[event.key] ?? 0);
      } else if (
        (event.key === 'Home' || event.key === 'End') &&
        !event.shiftKey &&
        isReading(event.target, live.current.box.current)
      ) {
        event.preventDefault();
        if (event.key === 'Home') live.current.toBeginning();
        else live.current.window.toEnd();
      }
    };
    // before anybody else: where Esc also stops a turn, closing this is what is meant
    const onEscape = (event: KeyboardEvent) => {
      const { find } = live.current;
      if (event.key !== 'Escape' || !find.open || event.isComposing) return;
      event.preventDefault();
      event.stopPropagation();
      find.close();
    };
    addEventListener('keydown', onKey);
    addEventListener('keydown', onEscape, { capture: true });
    return () => {
      removeEventListener('keydown', onKey);
      removeEventListener('keydown', onEscape, { capture: true });
    };
  }, []);
}

function isFindField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('.find') !== null;
}

/** These keys have a meaning of their own in lists, menus and fields. */
function isReading(target: EventTarget | null, box: HTMLElement | null): boolean {
  if (!(target instanceof HTMLElement) || isTyping(target)) return false;
  return target === document.body || (box?.contains(target) === true && !target.closest('.menu'));
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input, textarea, select'))
  );
}

function turn({ box, window }: ThreadShortcutsOptions, pages: number): void {
  const view = box.current;
  if (!view) return;
  const before = view.scrollTop;
  view.scrollBy({ top: pages * view.clientHeight });
  // said at once: what is drawn before the browser tells of it would lead back to the end
  if (view.scrollTop < before) window.hold();
}

/** To the next prompt below the one we are at, or the one above. */
function walk({ box, rows, window }: ThreadShortcutsOptions, step: 1 | -1): void {
  const view = box.current;
  if (!view) return;
  const here = whereIn(view, rows, window);
  const prompts = rows.flatMap((row, at) => (row.kind === 'prompt' ? [{ row, at }] : []));
  const next =
    step === 1 ? prompts.find(({ at }) => at > here) : prompts.findLast(({ at }) => at < here);
  if (!next) {
    if (step === 1) window.toEnd();
    else if (rows[0]) window.jump(rows[0].key, 0);
    return;
  }
  window.jump(next.row.key, 0);
  requestAnimationFrame(() => {
    findRow(view, next.row.key)?.querySelector('article')?.focus({ preventScroll: true });
  });
}

/** The row we are at: the one that was walked to, if it is in sight, else the first in sight. */
function whereIn(view: HTMLElement, rows: readonly Row[], window: VirtualScroll): number {
  const walkedTo = document.activeElement?.closest<HTMLElement>('[data-row]');
  if (walkedTo && view.contains(walkedTo)) {
    const rectangle = walkedTo.getBoundingClientRect();
    const frame = view.getBoundingClientRect();
    const inSight = rectangle.bottom > frame.top && rectangle.top < frame.bottom;
    const at = rows.findIndex((row) => row.key === walkedTo.dataset.row);
    if (inSight && at >= 0) return at;
  }
  const position = window.position();
  if (position?.at !== 'row') return rows.length;
  // one that has its beginning in sight is still ahead
  return rows.findIndex((row) => row.key === position.key) - (position.offset > 0 ? 0.5 : 0);
}
