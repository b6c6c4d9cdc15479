import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readArchive } from '../../src/api/archive';
import { type ArchiveStore, createArchiveStore } from '../../src/archive/store';
import { FakeApi } from '../support/fakes';

let api: FakeApi;
let archive: ArchiveStore;
const answer = (changes: object = {}) => readArchive({ on: false, days: 30, due: [], ...changes });

beforeEach(() => {
  vi.useFakeTimers();
  api = new FakeApi();
  api.answers.archive = answer();
  api.answers.switchArchive = (on: boolean) => answer({ on });
  archive = createArchiveStore(api);
});
afterEach(() => vi.useRealTimers());

test('it is asked for after the list, and again as days go by', async () => {
  archive.start();
  await vi.advanceTimersByTimeAsync(0);
  expect(api.requests).toEqual([]);
  await vi.advanceTimersByTimeAsync(3 * 3_600_000);
  expect(api.requests).toEqual(['archive', 'archive', 'archive']);
  archive.stop();
  await vi.advanceTimersByTimeAsync(10 * 3_600_000);
  expect(api.requests).toHaveLength(3);
  expect(archive.status.value).toBeNull();
});

test('it is switched, and says what failed', async () => {
  await archive.switch(true);
  expect(archive.status.value?.on).toBe(true);
  api.trouble = 'outside_roots';
  await archive.switch(false);
  expect(archive.status.value?.on).toBe(true);
  expect(archive.failure.value?.sentence).toBe('said outside_roots');
});

test('what comes after one has left is forgotten', async () => {
  api.hold();
  const asking = archive.refresh();
  archive.stop();
  api.release?.();
  await asking;
  expect(archive.status.value).toBeNull();
});

test('an answer is read forgivingly', () => {
  expect(readArchive({ holds: { gone: 2 }, due: [{}, { sessionId: 'a' }] })).toEqual({
    on: false,
    holds: { kept: 0, gone: 2, cost: 0 },
    days: null,
    due: [{ sessionId: 'a', at: null }],
  });
});

test('how much is kept of a whole machine is not known to who sees a part of it', () => {
  expect(readArchive({ on: true, days: 30, due: [] })?.holds).toBeNull();
});
