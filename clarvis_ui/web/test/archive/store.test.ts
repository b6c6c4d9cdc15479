import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readArchive } from '../../src/api/archive';
import { type ArchiveStore, createArchiveStore } from '../../src/archive/store';
import { FakeApi } from '../support/fakes';

let api: FakeApi;
let kept: ArchiveStore;
const archive = (changes: object = {}) => readArchive({ on: false, days: 30, due: [], ...changes });

beforeEach(() => {
  vi.useFakeTimers();
  api = new FakeApi();
  api.answers.archive = archive();
  api.answers.switchArchive = (on: boolean) => archive({ on });
  kept = createArchiveStore(api);
});
afterEach(() => vi.useRealTimers());

test('it is asked for after the list, and again as days go by', async () => {
  kept.start();
  await vi.advanceTimersByTimeAsync(0);
  expect(api.asked).toEqual([]);
  await vi.advanceTimersByTimeAsync(3 * 3_600_000);
  expect(api.asked).toEqual(['archive', 'archive', 'archive']);
  kept.stop();
  await vi.advanceTimersByTimeAsync(10 * 3_600_000);
  expect(api.asked).toHaveLength(3);
  expect(kept.status.value).toBeNull();
});

test('it is switched, and says what failed', async () => {
  await kept.switch(true);
  expect(kept.status.value?.on).toBe(true);
  api.trouble = 'outside_roots';
  await kept.switch(false);
  expect(kept.status.value?.on).toBe(true);
  expect(kept.failure.value?.sentence).toBe('said outside_roots');
});

test('what comes after one has left is forgotten', async () => {
  api.hold();
  const asking = kept.refresh();
  kept.stop();
  api.release?.();
  await asking;
  expect(kept.status.value).toBeNull();
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
