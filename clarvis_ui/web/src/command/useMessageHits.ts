import { useEffect, useState } from 'preact/hooks';
import type { Api } from '../api/client';
import type { Hit } from '../api/search';
import { isWorthFinding } from '../search/store';

// after this pause one wants to know; what is said is routed sooner
const PAUSE_MS = 250;
const MOST = 4;

/** The newest messages with the words that are typed: perhaps one looks for them. */
export function useFinds(api: Pick<Api, 'search'>, typed: string): readonly Hit[] {
  const [hits, setHits] = useState<readonly Hit[]>([]);
  const words = isWorthFinding(typed) ? typed.trim() : '';
  useEffect(() => {
    if (words === '') {
      setHits([]);
      return;
    }
    const leaving = new AbortController();
    const later = setTimeout(async () => {
      const wanted = { words, kind: null, workdir: null, best: false };
      const outcome = await api.search(wanted, null, leaving.signal, MOST);
      // without an answer the bar is still there to say something
      if (!leaving.signal.aborted) setHits(outcome.ok ? outcome.value.hits : []);
    }, PAUSE_MS);
    return () => {
      clearTimeout(later);
      leaving.abort();
    };
  }, [api, words]);
  return hits;
}
