import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  type Bucket,
  readTimeline,
  type Timeline,
  type TimelineQuery,
  timelineQuery,
} from '../../src/api/timeline';
import {
  type Column,
  chosenAt,
  columnsOf,
  columnWords,
  doneWords,
  isNothing,
  lanesOf,
  MAX_COLUMNS,
  shortName,
} from '../../src/timeline/columns';
import { createTimelineStore, type TimelineStore } from '../../src/timeline/store';
import { FakeApi } from '../support/fakes';

const NOTHING = { prompts: 0, tools: 0, edits: 0, compactions: 0, output: 0, costUsd: 0 };
const bucket = (start: string, done: Partial<Bucket> = { prompts: 1 }): Bucket => ({
  ...NOTHING,
  start,
  ...done,
});
const days = (...starts: string[]) =>
  columnsOf({ by: 'day', buckets: starts.map((start) => bucket(start)) });

// ---- columns ----

test('what is covered of the checklist stays covered, and has a lane of its own', () => {
  const buckets = ['2026-03-01', '2026-03-03'].map((start) => bucket(start));
  const completion = [
    { start: '', percent: 10 },
    { start: '2026-03-01', percent: 40 },
    { start: '2026-03-03', percent: 75 },
  ];
  const columns = columnsOf({ by: 'day', buckets, completion });
  expect(columns.slice(-4).map(({ covered }) => covered)).toEqual([10, 40, 40, 75]);
  const lane = lanesOf(columns).at(-1);
  expect(lane).toMatchObject({ key: 'covered', label: 'Checklist covered', total: '75 %' });
  expect(lane?.shares.slice(-3)).toEqual([0.4, 0.4, 0.75]);
  expect(columnWords(columns.at(-1) as Column)).toContain('checklist 75\u00a0% covered');
  const none = columnsOf({ by: 'day', buckets });
  expect(lanesOf(none).map(({ key }) => key)).not.toContain('covered');
  expect(columnWords(none.at(-1) as Column)).not.toContain('checklist');
});

test('when the checklist became more is read, and nothing else', () => {
  const raw = { completion: [{ start: '2026-03-01', percent: 40 }, { start: 7 }, null] };
  expect(readTimeline(raw)?.completion).toEqual([{ start: '2026-03-01', percent: 40 }]);
  expect(readTimeline({ completion: null })?.completion).toEqual([]);
});

test('days without anything stand between the others, and one alone is no wall', () => {
  const columns = days('2026-02-27', '2026-03-01');
  expect(columns).toHaveLength(14);
  expect(columns.slice(-3).map(({ from, to, done }) => [from, to, done.prompts])).toEqual([
    ['2026-02-27', '2026-02-28', 1],
    ['2026-02-28', '2026-03-01', 0],
    ['2026-03-01', '2026-03-02', 1],
  ]);
  expect(days()).toEqual([]);
});

test('hours go on over midnight', () => {
  const buckets = ['2026-02-28T23', '2026-03-01T01'].map((start) => bucket(start));
  const columns = columnsOf({ by: 'hour', buckets });
  expect(columns.slice(-3).map(({ from, to }) => [from, to])).toEqual([
    ['2026-02-28T23', '2026-03-01T00'],
    ['2026-03-01T00', '2026-03-01T01'],
    ['2026-03-01T01', '2026-03-01T02'],
  ]);
  expect(columns.at(-1)?.name).toBe('Sun, 1 Mar 2026, 01:00');
});

test('what is too much for days is put together in weeks, and then in months', () => {
  const weeks = days('2026-01-01', '2026-01-02', '2026-06-01');
  expect(weeks[0]).toMatchObject({ step: 'week', from: '2025-12-29', to: '2026-01-05' });
  expect(weeks[0]?.done.prompts).toBe(2);
  expect(weeks.at(-1)?.name).toBe('Week of 1 Jun 2026');
  const months = days('2023-11-30', '2026-03-01');
  expect(months[0]).toMatchObject({ step: 'month', from: '2023-11-01', to: '2023-12-01' });
  expect(months.at(-1)?.name).toBe('March 2026');
  for (const columns of [weeks, months]) expect(columns.length).toBeLessThanOrEqual(MAX_COLUMNS);
});

test('a clock that was centuries off leaves the rest in sight', () => {
  const columns = days('0001-01-01', '2026-02-28', '2026-03-01', '9999-12-31');
  expect(columns.map(({ from }) => from)).toEqual([
    '0001-01-01',
    '2026-02-01',
    '2026-03-01',
    '9999-12-01',
  ]);
});

test('names below the plot are short', () => {
  expect(days('2026-03-01').map(shortName).at(-1)).toBe('1 Mar');
  // but of weeks one has to know the year
  expect(days('2025-06-16', '2026-08-19').map(shortName).at(0)).toBe('16 Jun 2025');
});

// ---- the plot ----

test('every lane is in proportion to the most of its own kind, and one without anything is none', () => {
  const columns = columnsOf({
    by: 'day',
    buckets: [
      bucket('2026-03-01', { prompts: 4, tools: 1, costUsd: 0.5 }),
      bucket('2026-03-02', { prompts: 1, tools: 100 }),
    ],
  });
  const lanes = lanesOf(columns);
  expect(lanes.map(({ label, total }) => [label, total])).toEqual([
    ['Prompts', '5'],
    ['Tools', '101'],
    ['Cost', '$0.50'],
  ]);
  expect(lanes.map(({ shares }) => shares.slice(-2))).toEqual([
    [1, 0.25],
    [0.01, 1],
    [1, 0],
  ]);
  expect(lanes.every(({ shares }) => shares.length === columns.length)).toBe(true);
});

test('where nothing has a price, what was written is the measure', () => {
  const columns = columnsOf({ by: 'day', buckets: [bucket('2026-03-01', { output: 1200 })] });
  expect(lanesOf(columns).map(({ label, total }) => [label, total])).toEqual([
    ['Tokens written', '1.2K'],
  ]);
});

test('the column that was chosen is looked at, else the last with anything in it', () => {
  const columns = columnsOf({
    by: 'day',
    buckets: [bucket('2026-03-01'), bucket('2026-03-03'), bucket('2026-03-04', NOTHING)],
  });
  const from = (at: number) => columns[at]?.from;
  expect(from(chosenAt(columns, { from: '2026-03-02', to: '2026-03-03' }))).toBe('2026-03-02');
  // an hour of that day, from when there was less to show
  expect(from(chosenAt(columns, { from: '2026-03-01T10', to: '2026-03-01T11' }))).toBe(
    '2026-03-01',
  );
  expect(from(chosenAt(columns, { from: '1999-01-01', to: '1999-01-02' }))).toBe('2026-03-03');
  expect(from(chosenAt(columns, null))).toBe('2026-03-03');
  expect(chosenAt([], null)).toBe(-1);
});

test('what was done, in words', () => {
  const words = (done: object) => doneWords({ ...NOTHING, ...done }).replaceAll('\u00a0', ' ');
  expect(words({ prompts: 1, tools: 12, edits: 2, costUsd: 0.4 })).toBe(
    '1 prompt, 12 tool calls, 2 edits, $0.40',
  );
  expect(words({ compactions: 1 })).toBe('1 compaction');
  expect(doneWords(NOTHING)).toBe('nothing');
  expect(isNothing({ ...NOTHING, output: 5 })).toBe(false);
});

// ---- asking ----

const WHOLE: TimelineQuery = { session: null, workdir: '/code', span: null };
const timelineOf = (complete: boolean, prompts = 0) =>
  readTimeline({ by: 'day', total: { prompts }, complete }) as Timeline;

let api: FakeApi;
let store: TimelineStore;

beforeEach(() => {
  vi.useFakeTimers();
  api = new FakeApi();
  store = createTimelineStore(api, 5);
});

afterEach(() => {
  store.stop();
  vi.useRealTimers();
});

test('while not every line is read it is asked again', async () => {
  api.answers.timeline = timelineOf(false);
  await store.load(WHOLE);
  api.answers.timeline = timelineOf(true, 3);
  await vi.advanceTimersByTimeAsync(5000);
  expect(store.timeline.value?.total.prompts).toBe(3);
  api.answers.timeline = timelineOf(true, 4);
  await vi.advanceTimersByTimeAsync(5000);
  expect(store.timeline.value?.total.prompts).toBe(3);
});

test('of the same thing what is known stays, of another it does not', async () => {
  api.answers.timeline = timelineOf(true, 1);
  await store.load(WHOLE);
  const again = store.load({ ...WHOLE });
  expect(store.timeline.value).not.toBeNull();
  await again;
  const other = store.load({ ...WHOLE, workdir: '/other' });
  expect(store.timeline.value).toBeNull();
  await other;
  expect(store.timeline.value).not.toBeNull();
});

test('an answer that comes late does not take the place of a newer one', async () => {
  let release = () => {};
  api.held = new Promise<void>((resolve) => {
    release = resolve;
  });
  api.answers.timeline = timelineOf(true, 1);
  const first = store.load(WHOLE);
  api.held = Promise.resolve();
  api.answers.timeline = timelineOf(true, 2);
  await store.load({ ...WHOLE, workdir: '/other' });
  release();
  await first;
  expect(store.timeline.value?.total.prompts).toBe(2);
});

test('what failed is said, until it works', async () => {
  api.trouble = 'keeper_unreachable';
  await store.load(WHOLE);
  expect(store.failure.value?.code).toBe('keeper_unreachable');
  api.trouble = null;
  api.answers.timeline = timelineOf(true);
  await store.load(WHOLE);
  expect(store.failure.value).toBeNull();
});

// ---- the contract ----

test('what is strange in an answer costs a detail only', () => {
  const read = readTimeline({
    by: 'fortnight',
    total: { prompts: 'many' },
    buckets: [null, { start: '' }, { start: '2026-02-30T99' }, { start: '2026-03-01', tools: 2 }],
    prompts: [{ uuid: 'a' }, { sessionId: 's', uuid: 'u', text: 'hello' }],
  });
  expect(read).toMatchObject({ by: 'day', complete: false, total: NOTHING });
  expect(read?.buckets).toEqual([bucket('2026-03-01', { tools: 2 })]);
  expect(read?.prompts).toEqual([
    { sessionId: 's', uuid: 'u', at: null, text: 'hello', title: null },
  ]);
  expect(readTimeline(7)).toBeNull();
});

test('the parameters of a request', () => {
  const span = { from: '2026-03-01', to: '2026-03-02' };
  expect(Object.fromEntries(timelineQuery({ ...WHOLE, span }, 9))).toEqual({
    limit: '9',
    workdir: '/code',
    after: '2026-03-01',
    before: '2026-03-02',
  });
  const ofSession = { session: 's', workdir: '/code', span: null };
  expect(Object.fromEntries(timelineQuery(ofSession, 0))).toEqual({ limit: '0' });
});
