import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Hit, SEARCH_KINDS, type Wanted } from '../api/search';
import { searchHref } from '../app/routes';
import type { AppStore } from '../app/store';
import { fullTime, relativeTime } from '../lib/format';
import { titled } from '../sessions/labels';
import { Icon } from '../ui/Icon';
import { useNow } from '../ui/useNow';
import {
  createSearchStore,
  FILTER_WORDS,
  hitHref,
  indexedPercent,
  type SearchResults,
  sourceWords,
} from './store';
import '../app/page-head.css';
import '../attention/inbox.css';
import { BackButton } from '../app/BackButton';
import { Snippet } from './Snippet';
import './search.css';

// milliseconds after the last key
const PAUSE_MS = 150;

/** Search in all messages. The address has the query. */
export function SearchPage({ app, wanted }: { app: AppStore; wanted: Wanted }) {
  const search = useMemo(() => createSearchStore(app.api), [app]);
  const [words, setWords] = useState(wanted.words);
  const field = useRef<HTMLInputElement>(null);
  const { kind, workdir, best } = wanted;

  useEffect(() => field.current?.focus(), []);
  useEffect(() => setWords(wanted.words), [wanted.words]);
  useEffect(() => {
    void search.search({ words: wanted.words, kind, workdir, best });
  }, [search, wanted.words, kind, workdir, best]);
  useEffect(() => search.stop, [search]);
  useEffect(() => {
    const later = setTimeout(() => {
      // typing leaves no trail behind: "back" leads to where one came from
      if (words !== wanted.words) location.replace(searchHref({ ...wanted, words }));
    }, PAUSE_MS);
    return () => clearTimeout(later);
  }, [words, wanted]);

  const results = search.results.value;
  const { sessions } = app.sessions.listing.value;
  return (
    <div class="inbox">
      <header class="session-head">
        <BackButton />
        <h1 class="spoken">Search</h1>
        <search class="search-field">
          <Icon name="search" />
          <input
            ref={field}
            type="search"
            aria-label="Search all messages"
            placeholder="Words, &quot;a phrase&quot;, a file, a symbol"
            autocomplete="off"
            spellcheck={false}
            maxLength={1000}
            value={words}
            onInput={(event) => setWords(event.currentTarget.value)}
          />
        </search>
      </header>
      <div class="inbox-log" aria-busy={search.isSearching.value}>
        <div class="inbox-column search-column">
          <Filters app={app} wanted={{ ...wanted, words }} />
          <p class="search-problem" role="alert">
            {search.failure.value?.sentence}
          </p>
          {wanted.words.trim() === '' ? (
            <Hints />
          ) : (
            results && (
              <Answer
                results={{ ...results, hits: titled(sessions, results.hits) }}
                best={wanted.best}
                onMore={() => void search.more()}
              />
            )
          )}
        </div>
      </div>
    </div>
  );
}

function Filters({ app, wanted }: { app: AppStore; wanted: Wanted }) {
  const workdirs = useMemo(() => {
    const workdirs = app.sessions.newestFirst.value.map(({ workdir }) => workdir);
    return [...new Set(workdirs)].filter((workdir) => workdir !== null);
  }, [app.sessions.newestFirst.value]);
  const go = (change: Partial<Wanted>) => location.replace(searchHref({ ...wanted, ...change }));

  return (
    <fieldset class="search-filters">
      <legend class="spoken">What is looked through</legend>
      <div class="search-kinds">
        {([null, ...SEARCH_KINDS] as const).map((kind) => (
          <button
            key={kind}
            type="button"
            class="quiet"
            aria-pressed={wanted.kind === kind}
            onClick={() => go({ kind })}
          >
            {kind === null ? 'Everything' : FILTER_WORDS[kind]}
          </button>
        ))}
      </div>
      <div class="search-selects">
        <select
          aria-label="Directory"
          value={wanted.workdir ?? ''}
          onChange={(event) => go({ workdir: event.currentTarget.value || null })}
        >
          <option value="">All directories</option>
          {workdirs.map((workdir) => (
            <option key={workdir} value={workdir}>
              {workdir}
            </option>
          ))}
        </select>
        <select
          aria-label="Order"
          value={wanted.best ? 'best' : 'newest'}
          onChange={(event) => go({ best: event.currentTarget.value === 'best' })}
        >
          <option value="newest">Newest first</option>
          <option value="best">Most telling first</option>
        </select>
      </div>
    </fieldset>
  );
}

interface AnswerProps {
  results: SearchResults;
  best: boolean;
  onMore(): void;
}

function Answer({ results, best, onMore }: AnswerProps) {
  const { hits, cursor, index } = results;
  const now = useNow(20_000);
  const percent = indexedPercent(index);
  // ranked, each stands where it is worth most
  const apart = !best && hits.some((hit) => hit.inside);
  return (
    <>
      {percent !== null && (
        <p class="search-progress" role="status">
          The index is being built: {percent} % of all that was said is looked through.
          <progress max={100} value={percent} aria-label="Index" />
        </p>
      )}
      {results.decisionsFirst && hits.some((hit) => hit.decision) && (
        <p class="search-note">Decisions first.</p>
      )}
      {hits.length === 0 && cursor === null && (
        <p class="inbox-empty" role="status">
          {percent === null ? 'Nothing was said with these words.' : 'Nothing found so far.'}
        </p>
      )}
      <Hits label="Found" hits={hits.filter((hit) => !apart || !hit.inside)} now={now} />
      {apart && (
        <>
          <h2 class="search-inside">Inside of longer words</h2>
          <Hits
            label="Found inside of longer words"
            hits={hits.filter((hit) => hit.inside)}
            now={now}
          />
        </>
      )}
      {cursor !== null && (
        <button type="button" class="quiet search-more" onClick={onMore}>
          Show more
        </button>
      )}
    </>
  );
}

function Hits({ label, hits, now }: { label: string; hits: Hit[]; now: number }) {
  if (hits.length === 0) return null;
  return (
    <ol class="search-hits" aria-label={label}>
      {hits.map((hit) => (
        <HitRow key={`${hit.sessionId} ${hit.uuid}`} hit={hit} now={now} />
      ))}
    </ol>
  );
}

function HitRow({ hit, now }: { hit: Hit; now: number }) {
  return (
    <li>
      <a class="search-hit" href={hitHref(hit)}>
        <span class="search-where">
          <b dir="auto">{hit.title ?? 'Untitled session'}</b>
          {hit.project && <bdi>{hit.project}</bdi>}
          <time dateTime={hit.timestamp ?? undefined} title={fullTime(hit.timestamp)}>
            {relativeTime(hit.timestamp, now)}
          </time>
        </span>
        <span class="search-words" dir="auto">
          <i data-decision={hit.decision}>
            {sourceWords(hit)}
            {hit.agentId !== null && ', in a subagent'}
          </i>{' '}
          <Snippet pieces={hit.snippet} />
        </span>
      </a>
    </li>
  );
}

function Hints() {
  return (
    <ul class="search-hints">
      <li>
        <code>retry loop</code> both words, also as parts of longer ones
      </li>
      <li>
        <code>"retry loop"</code> exactly this
      </li>
      <li>
        <code>src/auth_test.py</code> <code>parse_whole</code> a file, a symbol
      </li>
      <li>
        <code>What did we decide about authentication?</code> decisions first
      </li>
    </ul>
  );
}
