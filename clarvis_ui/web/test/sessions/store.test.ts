import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createEventBus } from '../../src/api/eventBus';
import type { Health } from '../../src/api/sessions';
import { createSessionStore, needsWholeList, type SessionStore } from '../../src/sessions/store';
import { FakeApi, FakeAttention } from '../support/fakes';
import { sample } from '../support/samples';

let api: FakeApi;
let attention: FakeAttention;
let store: SessionStore;

const titles = () => store.newestFirst.value.map((session) => session.title);
const soon = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => {
  vi.useFakeTimers();
  api = new FakeApi();
  attention = new FakeAttention();
  store = createSessionStore(api, createEventBus(), attention);
});

afterEach(() => {
  store.stop();
  vi.useRealTimers();
});

describe('the first look', () => {
  test('follows the cursor to the end', async () => {
    api.pageSize = 2;
    api.rows = [sample(5), sample(4), sample(3), sample(2), sample(1)];
    store.start();
    await soon();
    expect(titles()).toEqual(['Title 5', 'Title 4', 'Title 3', 'Title 2', 'Title 1']);
    expect(store.listing.value.complete).toBe(true);
    expect(api.requests).toEqual(['health', 'sessions first', 'sessions 2', 'sessions 4']);
  });

  test('takes what the keeper said at the door', async () => {
    const health = await api.health();
    api.requests = [];
    const waiting = [health];
    store = createSessionStore(api, createEventBus(), attention, null, () => waiting.pop() ?? null);
    store.start();
    await soon();
    expect(api.requests).toEqual(['sessions first']);
    expect(store.listing.value.complete).toBe(true);
    store.refreshNow();
    await soon();
    expect(api.requests).toEqual(['sessions first', 'health', 'sessions first']);
  });

  test('of nothing is a whole look too', async () => {
    store.start();
    await soon();
    expect(store.listing.value.complete).toBe(true);
    expect(titles()).toEqual([]);
  });

  test('ends where a cursor goes round', async () => {
    api.rows = [sample(1)];
    api.sessions = async () => ({
      ok: true,
      value: { sessions: api.rows, cursor: 'again', position: null },
    });
    store.start();
    await soon();
    expect(store.listing.value.complete).toBe(true);
  });
});

describe('later looks', () => {
  test('see what is new on the first page', async () => {
    api.pageSize = 1;
    api.rows = [sample(2), sample(1)];
    store.start();
    await soon();
    api.requests = [];
    api.rows = [sample(2, { title: 'changed' }), sample(1)];
    await vi.advanceTimersByTimeAsync(4000);
    expect(titles()).toEqual(['changed', 'Title 1']);
    expect(api.requests).toEqual(['health', 'sessions first']);
  });

  test('see what is gone', async () => {
    api.rows = [sample(2), sample(1)];
    store.start();
    await soon();
    api.rows = [sample(2)];
    await vi.advanceTimersByTimeAsync(4000);
    expect(titles()).toEqual(['Title 2']);
  });

  test('wait while nobody looks', async () => {
    store.start();
    attention.hidden = true;
    await soon();
    api.requests = [];
    await vi.advanceTimersByTimeAsync(60_000);
    expect(api.requests).toEqual([]);
    attention.comeBack();
    await soon();
    expect(api.requests).toContain('health');
  });
});

describe('a keeper that is away', () => {
  test('is said to be, keeps the list, and is back by itself', async () => {
    api.rows = [sample(1)];
    store.start();
    await soon();
    api.trouble = 'keeper_unreachable';
    await vi.advanceTimersByTimeAsync(4000);
    expect(store.listing.value.failure?.code).toBe('keeper_unreachable');
    expect(titles()).toEqual(['Title 1']);
    api.trouble = null;
    await vi.advanceTimersByTimeAsync(1200);
    expect(store.listing.value.failure).toBe(null);
  });

  test('is asked less and less often', async () => {
    api.trouble = 'keeper_unreachable';
    store.start();
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    const looks = api.requests.filter((what) => what === 'health').length;
    expect(looks).toBeGreaterThan(15);
    expect(looks).toBeLessThan(32);
  });

  test('is asked at once when the user says so', async () => {
    api.trouble = 'keeper_unreachable';
    store.start();
    await vi.advanceTimersByTimeAsync(5 * 60_000);
    api.trouble = null;
    store.refreshNow();
    await soon();
    expect(store.listing.value.failure).toBe(null);
  });
});

describe('logged out', () => {
  test('a stopped store forgets and asks no more', async () => {
    api.rows = [sample(1)];
    store.start();
    await soon();
    store.stop();
    api.requests = [];
    await vi.advanceTimersByTimeAsync(60_000);
    expect(titles()).toEqual([]);
    expect(api.requests).toEqual([]);
  });

  test('an answer that comes after the end is not remembered', async () => {
    api.rows = [sample(1)];
    api.hold();
    store.start();
    await soon();
    store.stop();
    api.release?.();
    await soon();
    expect(titles()).toEqual([]);
  });

  test('and in again: it starts anew', async () => {
    api.rows = [sample(1)];
    store.start();
    await soon();
    store.stop();
    store.start();
    await soon();
    expect(titles()).toEqual(['Title 1']);
  });
});

describe('renaming', () => {
  test('shows at once and can be taken back', async () => {
    api.rows = [sample(1)];
    store.start();
    await soon();
    await store.rename('id-0001', 'Mine');
    expect(store.listing.value.sessions.get('id-0001')?.name).toBe('Mine');
    await store.rename('id-0001', null);
    expect(store.listing.value.sessions.get('id-0001')?.name).toBe(null);
  });

  test('is not undone by an answer that set out before', async () => {
    api.rows = [sample(1)];
    store.start();
    await soon();
    api.hold();
    await vi.advanceTimersByTimeAsync(4000);
    await store.rename('id-0001', 'Mine');
    api.release?.();
    await soon();
    expect(store.listing.value.sessions.get('id-0001')?.name).toBe('Mine');
  });

  test('that fails says why and changes nothing', async () => {
    api.rows = [sample(1)];
    store.start();
    await soon();
    api.trouble = 'state_unwritable';
    const outcome = await store.rename('id-0001', 'Mine');
    expect(outcome).toMatchObject({ ok: false, failure: { code: 'state_unwritable' } });
    expect(store.listing.value.sessions.get('id-0001')?.name).toBe(null);
  });
});

describe('when the whole list is read again', () => {
  const health = (sessions: number, done = 0, total = 0): Health => ({
    version: null,
    sessions,
    scan: { done, total },
  });

  test.each([
    ['the first time', null, health(5), 0, true],
    ['nothing happened', { at: 0, health: health(5) }, health(5), 4000, false],
    ['one came or went', { at: 0, health: health(5) }, health(6), 4000, true],
    ['a minute passed', { at: 0, health: health(5) }, health(5), 60_000, true],
    ['counts come in', { at: 0, health: health(5, 1, 9) }, health(5, 3, 9), 8000, true],
    ['counts come in, too soon', { at: 0, health: health(5, 1, 9) }, health(5, 3, 9), 4000, false],
    ['all is counted', { at: 0, health: health(5, 1, 9) }, health(5, 9, 9), 4000, true],
  ] as const)('%s', (_when, last, now, at, expected) => {
    expect(needsWholeList(last, now, at)).toBe(expected);
  });
});
