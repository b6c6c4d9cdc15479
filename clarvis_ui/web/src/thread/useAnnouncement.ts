import { useEffect, useRef, useState } from 'preact/hooks';
import { stripControls } from '../lib/sanitize';
import type { Row } from './rows/rows';

const MAX_CHARACTERS = 400;

/** For screen readers: each finished reply, but none that was there at first. */
export function useAnnouncement(rows: readonly Row[]): string {
  const [words, setWords] = useState('');
  const announced = useRef<string | null>(null);
  useEffect(() => {
    const last = rows.findLast((row) => row.kind === 'text');
    if (!last) return;
    if (announced.current !== null && announced.current !== last.key) {
      setWords(`Claude: ${stripControls(last.text).slice(0, MAX_CHARACTERS)}`);
    }
    announced.current = last.key;
  }, [rows]);
  return words;
}
