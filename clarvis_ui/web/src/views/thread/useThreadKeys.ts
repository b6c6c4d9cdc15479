import { useEffect, useRef } from 'preact/hooks';
import type { Row } from './rows';
import type { Finding } from './useFind';
import { find, type Window } from './useWindow';

export interface KeysIn {
  box: { current: HTMLElement | null };
  rows: readonly Row[];
  window: Window;
  finding: Finding;
}

const ABOVE = 24;

/** Ctrl+F finds in the conversation; j and k walk from prompt to prompt. */
export function useThreadKeys(where: KeysIn): void {
  const live = useRef(where);
  live.current = where;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey) return;
      const { finding } = live.current;
      const command = event.ctrlKey || event.metaKey;
      if (command && !event.shiftKey && event.key.toLowerCase() === 'f') {
        // asked for again in our own field: then the browser's own way is meant
        if (isFindField(event.target)) return;
        event.preventDefault();
        finding.start();
      } else if (!command && event.key === 'Escape' && finding.open) {
        event.preventDefault();
        finding.close();
      } else if (!command && !isTyping(event.target) && (event.key === 'j' || event.key === 'k')) {
        event.preventDefault();
        walk(live.current, event.key === 'j' ? 1 : -1);
      }
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

function isFindField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('.find') !== null;
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input, textarea, select'))
  );
}

/** To the next prompt below what is in sight, or the one above. */
function walk({ box, rows, window }: KeysIn, step: 1 | -1): void {
  const view = box.current;
  if (!view) return;
  const spot = window.spot();
  const here = spot?.at === 'row' ? rows.findIndex((row) => row.key === spot.key) : rows.length;
  const prompts = rows.flatMap((row, at) => (row.kind === 'prompt' ? [{ row, at }] : []));
  const top = spot?.at === 'row' ? spot.offset : 0;
  // a prompt that stands where we put it last time is the one we are at
  const next =
    step === 1
      ? prompts.find(({ at }) => at > here || (at === here && top > ABOVE + 4))
      : prompts.findLast(({ at }) => at < here || (at === here && top < ABOVE - 4));
  if (!next) {
    if (step === 1) window.toEnd();
    else if (rows[0]) window.jump(rows[0].key, ABOVE);
    return;
  }
  window.jump(next.row.key, ABOVE);
  requestAnimationFrame(() => {
    find(view, next.row.key)?.querySelector('article')?.focus({ preventScroll: true });
  });
}
