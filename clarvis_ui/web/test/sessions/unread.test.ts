import { expect, test } from 'vitest';
import { createBrowserStorage, persistedSignal } from '../../src/lib/storage';
import { createUnread } from '../../src/sessions/unread';
import { sample } from '../support/samples';

const KEY = 'clarvis.seen';

function storageOf(items: Record<string, string> = {}) {
  return createBrowserStorage({
    length: 0,
    key: () => null,
    getItem: (key) => items[key] ?? null,
    setItem: (key, value) => {
      items[key] = value;
    },
    removeItem: () => {},
  });
}

function refuse(): never {
  throw new Error('refused');
}

const REFUSING = createBrowserStorage({
  length: 0,
  key: refuse,
  getItem: refuse,
  setItem: refuse,
  removeItem: refuse,
});

const FIRST_VISIT = () => Date.UTC(2025, 9, 1, 12);
const before = { modified: '2025-10-01T11:00:00Z' };
const after = { modified: '2025-10-01T13:00:00Z', messageCount: 5 };
const later = { modified: '2025-10-01T14:00:00Z', messageCount: 6 };

test('at the first visit nothing is news; what comes after it is', () => {
  const unread = createUnread(storageOf(), FIRST_VISIT);
  expect(unread.isUnread(sample(1, before))).toBe(false);
  expect(unread.isUnread(sample(1, after))).toBe(true);
});

test('what was seen is read until there is more, also after a reload', () => {
  const storage = storageOf();
  createUnread(storage, FIRST_VISIT).see(sample(1, after));
  const unread = createUnread(storage, () => Date.UTC(2026, 1, 1));
  expect(unread.isUnread(sample(1, after))).toBe(false);
  expect(unread.isUnread(sample(1, later))).toBe(true);
  expect(unread.isUnread(sample(1, { ...later, messageCount: 5 }))).toBe(false);
  expect(unread.isUnread(sample(2, after))).toBe(true);
});

test('what another tab has seen is read here too', () => {
  const storage = storageOf();
  const here = createUnread(storage, FIRST_VISIT);
  createUnread(storage, FIRST_VISIT).see(sample(1, after));
  expect(here.isUnread(sample(1, after))).toBe(true);
  here.readAgain();
  expect(here.isUnread(sample(1, after))).toBe(false);
});

test('only so many are kept', () => {
  const seen = Array.from({ length: 1000 }, (_, n) => [sample(n).id, [after.modified, 5]]);
  const record = { since: before.modified, seen: Object.fromEntries(seen) };
  const items = { [KEY]: JSON.stringify(record) };
  const unread = createUnread(storageOf(items), FIRST_VISIT);
  expect(unread.isUnread(sample(0, after))).toBe(false);
  unread.see(sample(1000, after));
  expect(unread.isUnread(sample(0, after))).toBe(true);
  expect(unread.isUnread(sample(1000, after))).toBe(false);
  expect(Object.keys(JSON.parse(items[KEY] ?? '').seen)).toHaveLength(1000);
});

test.each(['', '{', 'null', '7', '{"since": 7}', '{"since": "x", "seen": {"id-0001": 7}}'])(
  'a shelf with %j on it is begun anew',
  (text) => {
    const unread = createUnread(storageOf({ [KEY]: text }), FIRST_VISIT);
    expect(unread.isUnread(sample(1, before))).toBe(false);
  },
);

test('a browser that keeps nothing forgets with the page', () => {
  for (const nothing of [REFUSING, createBrowserStorage(null)]) {
    const unread = createUnread(nothing, FIRST_VISIT);
    unread.see(sample(1, after));
    expect(unread.isUnread(sample(1, after))).toBe(false);
    const choice = persistedSignal(nothing, 'key', ['one', 'two']);
    choice.value = 'two';
    expect(choice.value).toBe('two');
  }
});

test('a choice is remembered, and a strange one is not', () => {
  const storage = storageOf();
  persistedSignal(storage, 'key', ['one', 'two']).value = 'two';
  expect(persistedSignal(storage, 'key', ['one', 'two']).value).toBe('two');
  expect(persistedSignal(storage, 'key', ['three', 'four']).value).toBe('three');
});
