import { expect, test } from 'vitest';
import {
  EMPTY_LISTING,
  isScanning,
  type ListingEvent,
  reduceListing,
} from '../../src/sessions/list';
import { sample } from '../support/samples';

const after = (...events: ListingEvent[]) => events.reduce(reduceListing, EMPTY_LISTING);
const failure = { code: 'keeper_unreachable', sentence: 'away' };

test('the newest are merged into what is known', () => {
  const listing = after(
    { type: 'newest/seen', sessions: [sample(1), sample(2)] },
    { type: 'newest/seen', sessions: [sample(2, { title: 'changed' }), sample(3)] },
  );
  expect([...listing.sessions.values()].map((s) => s.title)).toEqual([
    'Title 1',
    'changed',
    'Title 3',
  ]);
  expect(listing.complete).toBe(false);
});

test('the whole list ends what is not in it', () => {
  const listing = after(
    { type: 'newest/seen', sessions: [sample(1), sample(2)] },
    { type: 'whole/seen', sessions: [sample(2)] },
  );
  expect([...listing.sessions.keys()]).toEqual(['id-0002']);
  expect(listing.complete).toBe(true);
});

test('hearing the same again changes nothing', () => {
  const first = after({ type: 'whole/seen', sessions: [sample(1), sample(2)] });
  const again = [
    { type: 'newest/seen', sessions: [sample(1)] },
    { type: 'whole/seen', sessions: [sample(1), sample(2)] },
    { type: 'session/updated', session: sample(2) },
  ] as const;
  expect(again.reduce(reduceListing, first).sessions).toBe(first.sessions);
});

test('a session that did not change stays the same object', () => {
  const first = after({ type: 'whole/seen', sessions: [sample(1), sample(2)] });
  const next = reduceListing(first, {
    type: 'whole/seen',
    sessions: [sample(1), sample(2, { title: 'changed' })],
  });
  expect(next.sessions.get('id-0001')).toBe(first.sessions.get('id-0001'));
  expect(next.sessions.get('id-0002')?.title).toBe('changed');
});

test('trouble keeps what is known and passes', () => {
  const troubled = after(
    { type: 'whole/seen', sessions: [sample(1)] },
    { type: 'keeper/failed', failure },
  );
  expect(troubled.failure).toEqual(failure);
  expect(troubled.sessions.size).toBe(1);
  expect(reduceListing(troubled, { type: 'keeper/answered' }).failure).toBe(null);
});

test('a scan is over when it is done', () => {
  expect(isScanning(null)).toBe(false);
  expect(isScanning({ done: 0, total: 0 })).toBe(false);
  expect(isScanning({ done: 3, total: 5 })).toBe(true);
  expect(isScanning({ done: 5, total: 5 })).toBe(false);
});
