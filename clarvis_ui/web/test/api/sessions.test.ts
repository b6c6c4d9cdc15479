import { expect, test } from 'vitest';
import { readHealth, readSession, readSessionsPage } from '../../src/api/sessions';
import { sample } from '../support/samples';

test('a whole session stays whole', () => {
  const session = sample(1, {
    tokens: { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 },
    error: { code: 'x', message: 'y' },
    origin: 'terminal',
    state: 'waiting',
    progress: { of: 'checklist', items: 4, done: 3, percent: 75, complete: false },
    givenUp: '2026-03-01T12:00:00Z',
  });
  expect(readSession({ ...session, somethingNew: true })).toEqual(session);
});

test('a session needs no more than an id', () => {
  expect(readSession({ id: 'abc' })).toMatchObject({ id: 'abc', title: null, state: 'idle' });
});

test('fields of another type are as if they were missing', () => {
  const odd = {
    id: 'abc',
    title: 7,
    size: '12',
    state: 'dancing',
    origin: {},
    tokens: [],
    error: 1,
  };
  expect(readSession(odd)).toMatchObject({
    title: null,
    size: null,
    state: 'idle',
    origin: null,
    tokens: null,
    error: null,
  });
});

test.each([null, undefined, 7, 'x', [], {}, { id: '' }, { id: 7 }])('%j is no session', (raw) => {
  expect(readSession(raw)).toBe(null);
});

test('a row that is no session costs only itself', () => {
  const page = readSessionsPage({ sessions: [sample(1), null, sample(2)], cursor: null });
  expect(page?.sessions).toHaveLength(2);
});

test.each([null, [], {}, { sessions: {} }])('%j is no page', (raw) => {
  expect(readSessionsPage(raw)).toBe(null);
});

test('health without a scan is health', () => {
  expect(readHealth({ status: 'ok' })).toEqual({ version: null, sessions: null, scan: null });
  expect(readHealth({ scan: { done: 1, total: 2 } })?.scan).toEqual({ done: 1, total: 2 });
});
