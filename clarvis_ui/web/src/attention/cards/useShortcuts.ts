import { useLayoutEffect, useRef } from 'preact/hooks';
import { isComposing } from '../../lib/input';

export type Shortcuts = Readonly<Record<string, (() => void) | undefined>>;

/** Single keys for the card, except while typing. */
export function useShortcuts(keys: Shortcuts, active: boolean): void {
  const latest = useRef(keys);
  latest.current = keys;
  // with the card itself: a key pressed on what one sees counts
  useLayoutEffect(() => {
    if (!active) return;
    function onKeyDown(event: KeyboardEvent): void {
      // a key held down was pressed for something else
      if (event.repeat || event.defaultPrevented || isComposing(event)) return;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const act = Object.hasOwn(latest.current, event.key) ? latest.current[event.key] : undefined;
      if (!act || isTyping(event.target)) return;
      event.preventDefault();
      act();
    }
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [active]);
}

/** In an empty field of ours a letter is still a letter; only buttons and the page give way. */
function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest('input:not([type=radio], [type=checkbox]), textarea, select, dialog[open]') !==
      null
  );
}
