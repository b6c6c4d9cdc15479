import { useEffect, useRef, useState } from 'preact/hooks';

const GUARD_MS = 450;

/**
 * False for a moment after a card has taken another's place, or its keys: the second half of a
 * double click, or of a key pressed twice, was meant for the one before.
 */
export function useDoubleClickGuard(replacedAnother: boolean, keys: boolean): boolean {
  const [armed, setArmed] = useState(!replacedAnother);
  const had = useRef(keys);
  const taken = keys && !had.current;
  had.current = keys;
  if (taken && armed) setArmed(false);
  useEffect(() => {
    if (armed) return;
    const timer = setTimeout(() => setArmed(true), GUARD_MS);
    return () => clearTimeout(timer);
  }, [armed]);
  return armed && !taken;
}

/** Whether this click is the second of a pair. */
export function isSecondClick(event: MouseEvent): boolean {
  return event.detail > 1;
}
