import { describe, expect, test } from 'vitest';
import { groupByProject, matching, newestFirst } from '../../src/sessions/groupByProject';
import { sample } from '../support/samples';

const titles = (sessions: readonly { title: string | null }[]) => sessions.map((s) => s.title);

test('the newest comes first, and ties have one order', () => {
  const tied = { modified: '2025-10-02T00:00:00Z' };
  const sessions = [sample(1), sample(3, tied), sample(2, tied), sample(9, { modified: null })];
  expect(titles(newestFirst(sessions))).toEqual(['Title 2', 'Title 3', 'Title 1', 'Title 9']);
  expect(titles(newestFirst(sessions.reverse()))).toEqual([
    'Title 2',
    'Title 3',
    'Title 1',
    'Title 9',
  ]);
});

describe('projects', () => {
  test('are in the order of their newest session', () => {
    const web = { workdir: '/code/web', project: 'web' };
    const projects = groupByProject([sample(4, web), sample(3), sample(2, web), sample(1)]);
    expect(projects.map((p) => [p.label, p.sessions.length, p.parent])).toEqual([
      ['web', 2, null],
      ['payments-api', 2, null],
    ]);
  });

  test('of one name in two places say where they are', () => {
    const projects = groupByProject([
      sample(2, { workdir: '/one/api', project: 'api' }),
      sample(1, { workdir: '/two/api', project: 'api' }),
      sample(0, { workdir: 'D:\\three\\api', project: 'api' }),
      sample(0, { workdir: '/api', project: 'api' }),
    ]);
    expect(projects.map((p) => [p.label, p.parent])).toEqual([
      ['api', '/one'],
      ['api', '/two'],
      ['api', 'D:\\three'],
      ['api', '/'],
    ]);
  });

  test('are named after the directory where nobody named them', () => {
    expect(groupByProject([sample(1, { project: null })])[0]?.label).toBe('payments-api');
    expect(groupByProject([sample(1, { project: null, workdir: '/' })])[0]?.label).toBe('/');
    expect(groupByProject([sample(1, { project: null, workdir: null })])[0]?.label).toBe(
      'unknown directory',
    );
  });
});

describe('the filter', () => {
  const sessions = [
    sample(1, { name: 'Retry QUEUE', gitBranch: 'fix/login' }),
    sample(2, { workdir: '/home/ada/Website' }),
    sample(3),
  ];

  test.each([
    ['', ['Title 1', 'Title 2', 'Title 3']],
    ['   ', ['Title 1', 'Title 2', 'Title 3']],
    ['queue retry', ['Title 1']],
    ['LOGIN', ['Title 1']],
    ['website', ['Title 2']],
    ['id-0003', ['Title 3']],
    ['last of 3', ['Title 3']],
    ['title 2 website', ['Title 2']],
    ['queue website', []],
  ])('%j', (query, expected) => {
    expect(titles(matching(sessions, query))).toEqual(expected);
  });

  test('an empty one makes no new list', () => {
    expect(matching(sessions, ' ')).toBe(sessions);
  });
});
