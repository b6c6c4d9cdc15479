import { useEffect, useState } from 'preact/hooks';

const GUARD_MS = 450;

/**
 * False for a moment after a card has taken another's place: the second half of a double click, or
 * a key held down, was meant for the one before.
 */
export function useGuard(replacedAnother: boolean): boolean {
  const [armed, setArmed] = useState(!replacedAnother);
  useEffect(() => {
    if (armed) return;
    const timer = setTimeout(() => setArmed(true), GUARD_MS);
    return () => clearTimeout(timer);
  }, [armed]);
  return armed;
}

/** Whether this click is the second of a pair. */
export function isSecondClick(event: MouseEvent): boolean {
  return event.detail > 1;
}
