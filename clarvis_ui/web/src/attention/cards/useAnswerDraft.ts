import { useRef, useState } from 'preact/hooks';
import type { Asked, Half, Halves } from '../answerDrafts';

/** The answer to this question as far as it was begun, kept as it is given. */
export function useHalf(halves: Halves, asked: Asked): [Half, (changes: Partial<Half>) => void] {
  const [half, setHalf] = useState(() => halves.read(asked));
  const latest = useRef(half);
  function change(changes: Partial<Half>): void {
    latest.current = { ...latest.current, ...changes };
    halves.write(asked, latest.current);
    setHalf(latest.current);
  }
  return [half, change];
}
