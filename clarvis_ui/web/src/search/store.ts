import { type ReadonlySignal, signal } from '@preact/signals';
import type { Api } from '../api/client';
import { createLatestRequest } from '../api/request';
import type { Failure } from '../api/result';
import type { Hit, Index, Piece, SearchKind, Wanted } from '../api/search';
import { messageHref, sessionHref } from '../app/routes';

export interface SearchStore {
  readonly results: ReadonlySignal<SearchResults | null>;
  readonly isSearching: ReadonlySignal<boolean>;
  readonly failure: ReadonlySignal<Failure | null>;
  search(wanted: Wanted): Promise<void>;
  more(): Promise<void>;
  stop(): void;
}

export interface SearchResults {
  wanted: Wanted;
  hits: readonly Hit[];
  cursor: string | null;
  decisionsFirst: boolean;
  index: Index;
}

// while the index is being built, the same query soon has more hits
const AGAIN_MS = 2000;

export function createSearchStore(api: Pick<Api, 'search'>): SearchStore {
  const results = signal<SearchResults | null>(null);
  const asking = signal(false);
  const failure = signal<Failure | null>(null);
  const request = createLatestRequest();
  let timer: ReturnType<typeof setTimeout> | undefined;

  function stop(): void {
    clearTimeout(timer);
    request.stop();
    asking.value = false;
  }

  async function load(wanted: Wanted, before: SearchResults | null): Promise<void> {
    stop();
    asking.value = true;
    const cursor = before?.cursor ?? null;
    const outcome = await request.send((signal) => api.search(wanted, cursor, signal));
    if (outcome === null) return;
    asking.value = false;
    failure.value = outcome.ok ? null : outcome.failure;
    if (!outcome.ok) return;
    const hits = before ? [...before.hits, ...outcome.value.hits] : outcome.value.hits;
    results.value = { ...outcome.value, wanted, hits };
    const { stage } = outcome.value.index;
    if (before === null && (stage === 'building' || stage === 'starting')) {
      timer = setTimeout(() => void load(wanted, null), AGAIN_MS);
    }
  }

  return {
    results,
    isSearching: asking,
    failure,
    async search(wanted) {
      if (wanted.words.trim() === '') {
        stop();
        results.value = null;
        failure.value = null;
        return;
      }
      await load(wanted, null);
    },
    async more() {
      const before = results.value;
      if (before?.cursor && !asking.value) await load(before.wanted, before);
    },
    stop,
  };
}

/** How far the index is, in whole percents; null where it has everything. */
export function indexedPercent({ stage, done, total }: Index): number | null {
  if (stage === 'ready') return null;
  return total > 0 ? Math.min(99, Math.floor((100 * done) / total)) : 0;
}

/** The address of a hit; of a subagent's message, that of its call. */
export function hitHref({ sessionId, uuid, agentId, toolUseId }: Hit): string {
  const message = agentId === null ? uuid : toolUseId;
  return message === null ? sessionHref(sessionId) : messageHref(sessionId, message);
}

// longer text is for Claude and not a query
const MAX_QUERY = 80;
const MIN_QUERY = 3;

/** Whether the text of the command bar may be a search query. */
export function isWorthSearching(words: string): boolean {
  const length = words.trim().length;
  return length >= MIN_QUERY && length <= MAX_QUERY && !words.includes('\n');
}

const LEAD = 24;

/** The same with few words before the first find, for a line that has room for little more. */
export function nearMatch([first, ...rest]: readonly Piece[]): readonly Piece[] {
  if (!first) return [];
  if (first.match || first.text.length <= LEAD) return [first, ...rest];
  const before = first.text.slice(-LEAD).replace(/^\S*\s(?=.)/, '');
  return [{ text: `…${before}`, match: false }, ...rest];
}

const KIND_WORDS: Readonly<Record<string, string>> = {
  prompt: 'You',
  reply: 'Claude',
  toolResult: 'Result',
  command: 'Command',
  compaction: 'Summary',
  interruption: 'Interruption',
  error: 'Error',
  notice: 'Notice',
};

/** Who says it, and in what: "You", "Claude, thinking", "Edit". */
export function sourceWords({ kind, where, tool, decision }: Hit): string {
  if (decision) return 'Decision';
  if (where === 'input' && tool) return tool;
  const who = KIND_WORDS[kind] ?? 'Message';
  return where === 'thinking' ? `${who}, thinking` : who;
}

export const FILTER_WORDS: Readonly<Record<SearchKind, string>> = {
  prompt: 'Prompts',
  reply: 'Replies and calls',
  toolResult: 'Results',
  decision: 'Decisions',
};
