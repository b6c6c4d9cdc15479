import { useEffect, useState } from 'preact/hooks';

/** False at first, true after a moment: what comes quickly needs no placeholder. */
export function useDelayed(ms: number): boolean {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), ms);
    return () => clearTimeout(timer);
  }, [ms]);
  return late;
}
