import { beforeEach, expect, test, vi } from 'vitest';
import {
  type Hit,
  readSearchResponse,
  type SearchResponse,
  searchQuery,
  type Wanted,
} from '../../src/api/search';
import {
  createSearchStore,
  hitHref,
  indexedPercent,
  isWorthSearching,
  nearMatch,
  type SearchStore,
  sourceWords,
} from '../../src/search/store';
import { FakeApi } from '../support/fakes';

const hit = (uuid: string) => ({ sessionId: 's', uuid, snippet: [{ text: 'x', match: true }] });
const answer = (uuids: string[], changes: object = {}) =>
  readSearchResponse({
    hits: uuids.map(hit),
    cursor: null,
    index: { stage: 'ready' },
    ...changes,
  }) as SearchResponse;
const wanted = (words: string): Wanted => ({ words, kind: null, workdir: null, best: false });

let api: FakeApi;
let search: SearchStore;

beforeEach(() => {
  api = new FakeApi();
  search = createSearchStore(api);
});

const uuids = () => search.results.value?.hits.map(({ uuid }) => uuid);

test('an answer that comes late does not take the place of a newer one', async () => {
  let release = () => {};
  api.held = new Promise<void>((resolve) => {
    release = resolve;
  });
  api.answers.search = (query: Wanted) => answer([query.words]);
  const first = search.search(wanted('au'));
  api.held = Promise.resolve();
  await search.search(wanted('auth'));
  release();
  await first;
  expect(uuids()).toEqual(['auth']);
});

test('more is appended, and nothing is asked for nothing', async () => {
  api.answers.search = (_: Wanted, cursor: string | null) =>
    cursor === null ? answer(['a'], { cursor: 'c' }) : answer(['b']);
  await search.search(wanted('auth'));
  await search.more();
  expect(uuids()).toEqual(['a', 'b']);
  await search.more();
  expect(uuids()).toEqual(['a', 'b']);
  await search.search(wanted('  '));
  expect(search.results.value).toBeNull();
});

test('while the index is built it is asked again', async () => {
  vi.useFakeTimers();
  api.answers.search = answer([], { index: { stage: 'building', done: 1, total: 4 } });
  await search.search(wanted('auth'));
  api.answers.search = answer(['a']);
  await vi.advanceTimersByTimeAsync(5000);
  expect(uuids()).toEqual(['a']);
  vi.useRealTimers();
});

test('what failed is said', async () => {
  api.trouble = 'keeper_unreachable';
  await search.search(wanted('auth'));
  expect(search.failure.value?.code).toBe('keeper_unreachable');
});

test('how far the index is', () => {
  expect(indexedPercent({ stage: 'ready', done: 0, total: 0 })).toBeNull();
  expect(indexedPercent({ stage: 'starting', done: 0, total: 0 })).toBe(0);
  expect(indexedPercent({ stage: 'building', done: 1, total: 3 })).toBe(33);
});

test.each([
  [{ kind: 'prompt' }, 'You'],
  [{ kind: 'reply', where: 'thinking' }, 'Claude, thinking'],
  [{ kind: 'reply', where: 'input', tool: 'Edit' }, 'Edit'],
  [{ kind: 'toolResult', decision: true }, 'Decision'],
  [{ kind: 'something new' }, 'Message'],
])('%j', (hit, words) => {
  expect(sourceWords({ where: null, tool: null, decision: false, ...hit } as Hit)).toBe(words);
});

test('what is strange in an answer costs a detail only', () => {
  const read = readSearchResponse({ hits: [null, 7, { uuid: 'a' }, hit('a')], cursor: 7 });
  expect(read?.hits).toHaveLength(1);
  expect(read?.index.stage).toBe('ready');
  expect(readSearchResponse(null)).toBeNull();
});

test('the parameters of a request', () => {
  const query: Wanted = { words: 'a&b', kind: 'decision', workdir: '/x', best: true };
  expect(Object.fromEntries(searchQuery(query, 'c', 50))).toEqual({
    q: 'a&b',
    limit: '50',
    kind: 'decision',
    workdir: '/x',
    order: 'relevance',
    cursor: 'c',
  });
});

test('a hit leads to its message; what a subagent said, to its call', () => {
  const at = (changes: object) => hitHref({ ...answer(['u']).hits[0], ...changes } as Hit);
  expect(at({})).toBe('#session=s&message=u');
  expect(at({ agentId: 'a', toolUseId: 'toolu_1' })).toBe('#session=s&message=toolu_1');
  expect(at({ agentId: 'a', toolUseId: null })).toBe('#session=s');
});

test('what is looked for is neither a letter nor a page', () => {
  expect(isWorthSearching('auth')).toBe(true);
  expect(isWorthSearching(' au ')).toBe(false);
  expect(isWorthSearching('one\ntwo')).toBe(false);
  expect(isWorthSearching('word '.repeat(20))).toBe(false);
});

test('a find stands near the beginning of its line', () => {
  const match = { text: 'heron', match: true };
  const long = { text: `${'before '.repeat(9)}the grey `, match: false };
  expect(nearMatch([long, match])).toEqual([
    { text: '…before before the grey ', match: false },
    match,
  ]);
  expect(nearMatch([match])).toEqual([match]);
  expect(nearMatch([])).toEqual([]);
});
