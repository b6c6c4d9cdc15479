import type { Api } from '../api/client';
import type { Hit } from '../api/search';
import { isWorthSearching } from '../search/store';
import { useRequest } from '../ui/useRequest';

// after this pause of typing the search begins
const PAUSE_MS = 250;
const MAX_HITS = 4;
const NO_HITS: readonly Hit[] = [];

/** The newest messages that contain the typed text. */
export function useMessageHits(api: Pick<Api, 'search'>, typed: string): readonly Hit[] {
  const words = isWorthSearching(typed) ? typed.trim() : '';
  const query = { words, kind: null, workdir: null, best: false };
  const { value, failure } = useRequest(
    words === '' ? null : (signal) => api.search(query, null, signal, MAX_HITS),
    [api, words],
    PAUSE_MS,
  );
  // without an answer the bar can still be used
  return (failure === null && value?.hits) || NO_HITS;
}
