import { describe, expect, test } from 'vitest';
import { type Fit, type Routing, readRouting } from '../../src/api/routing';
import { destinationKey, destinationsOf, opensFor } from '../../src/command/destinations';
import { sample } from '../support/samples';

const fitting = (sessionId: string, because: string | null = 'both speak of “auth”'): Fit => ({
  sessionId,
  title: `Title of ${sessionId}`,
  workdir: '/code',
  score: 0.5,
  secondsAgo: 40,
  because,
});
const routing = (changes: Partial<Routing> = {}): Routing => ({
  action: 'new',
  sessionId: null,
  title: null,
  reason: 'Nothing fits.',
  candidates: [],
  ...changes,
});
const none = new Map();

describe('the ways a command can go', () => {
  test('begin anew while nothing is known', () => {
    expect(destinationsOf(null, none, '/code')).toEqual([
      { kind: 'new', workdir: '/code', because: null },
    ]);
  });

  test('have the decided one first, and say why', () => {
    const decided = routing({
      action: 'resume',
      sessionId: 'b',
      reason: 'It says “also”, and the last word was moments ago.',
      candidates: [fitting('a'), fitting('b'), fitting('c'), fitting('d')],
    });
    const destinations = destinationsOf(decided, none, '/code');
    expect(destinations.map(destinationKey)).toEqual(['resume b', 'resume a', 'resume c', 'new']);
    expect(destinations[0]).toMatchObject({
      title: 'Title of b',
      because: 'it says “also”, and the last word was moments ago',
      copy: false,
    });
  });

  test('put a new one first where none fits, and the nearest behind it, one key away', () => {
    const candidates = [fitting('a', null), fitting('b'), fitting('c', null)];
    const destinations = destinationsOf(routing({ candidates }), none, null);
    expect(destinations.map(destinationKey)).toEqual(['new', 'resume a', 'resume b']);
    expect(destinations[0]).toMatchObject({ workdir: null, because: 'Nothing fits.' });
    expect(destinations[1]).toMatchObject({ because: 'it was spoken in lately' });
  });

  test('leave out what is only recent, where another one fits', () => {
    const candidates = [fitting('a'), fitting('b', null)];
    const decided = routing({ action: 'resume', sessionId: 'a', candidates });
    expect(destinationsOf(decided, none, null).map(destinationKey)).toEqual(['resume a', 'new']);
  });

  test('know the name that a person gave, and what a terminal has open', () => {
    const session = sample(1, { name: 'Mine', origin: 'terminal' });
    const candidates = [fitting(session.id)];
    const decided = routing({ action: 'resume', sessionId: session.id, candidates });
    expect(destinationsOf(decided, new Map([[session.id, session]]), null)[0]).toMatchObject({
      title: 'Mine',
      copy: true,
    });
  });

  test('are read forgivingly', () => {
    expect(readRouting({ action: 'resume', candidates: [{}, { sessionId: 'a' }] })).toMatchObject({
      action: 'new',
      candidates: [{ sessionId: 'a', because: null, score: 0 }],
    });
    expect(readRouting('no')).toBeNull();
  });
});

describe('sessions one may mean to open', () => {
  const sessions = [
    sample(3, { title: 'Postgres 17', lastPrompt: 'retry the queue' }),
    sample(2, { title: 'Retry queue' }),
    sample(1, { title: 'Landing page' }),
  ];

  test('are those with the words in their title, then the others', () => {
    const opened = opensFor(sessions, 'queue RETRY', null);
    expect(opened.map(({ title }) => title)).toEqual(['Retry queue', 'Postgres 17']);
  });

  test('are the newest without words, and never the one that is open', () => {
    expect(opensFor(sessions, ' ', sample(3).id).map(({ title }) => title)).toEqual([
      'Retry queue',
      'Landing page',
    ]);
  });

  test('are none for what is no title', () => {
    expect(opensFor(sessions, 'retry\nqueue', null)).toEqual([]);
    expect(opensFor(sessions, 'retry '.repeat(30), null)).toEqual([]);
  });
});
