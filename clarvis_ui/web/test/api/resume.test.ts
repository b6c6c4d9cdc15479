import { expect, test } from 'vitest';
import { readResumeReport, readSpecification } from '../../src/api/resume';
import { readUsage, type UsageRow } from '../../src/api/usage';
import { createBrowserStorage } from '../../src/lib/storage';
import {
  AWAY_MS,
  handoverPrompt,
  isCold,
  readRecapLevel,
  writeRecapLevel,
} from '../../src/resume/preference';
import { bars, daily, overTime } from '../../src/usage/bars';

const NOW = Date.parse('2026-03-01T12:00:00Z');

function used(key: string, costUsd: number, output = 0): UsageRow {
  return { key, label: key, input: 0, output, cacheRead: 0, cacheWrite: 0, costUsd };
}

test('a session is cold once it was quiet for a while', () => {
  const at = (ago: number) => new Date(NOW - ago).toISOString();
  expect(isCold({ modified: at(AWAY_MS + 1), state: 'idle' }, NOW)).toBe(true);
  expect(isCold({ modified: at(AWAY_MS - 1), state: 'idle' }, NOW)).toBe(false);
  expect(isCold({ modified: at(AWAY_MS * 99), state: 'running' }, NOW)).toBe(false);
  expect(isCold({ modified: null, state: 'idle' }, NOW)).toBe(false);
});

test('what one wants to be told is remembered', () => {
  const removed = new Map<string, string>();
  const storage = createBrowserStorage({
    getItem: (key) => removed.get(key) ?? null,
    setItem: (key, value) => void removed.set(key, value),
    removeItem: (key) => void removed.delete(key),
    key: () => null,
    length: 0,
  });
  expect(readRecapLevel(storage)).toBeNull();
  writeRecapLevel(storage, 'detailed');
  expect(readRecapLevel(storage)).toBe('detailed');
  storage.write('recap', 'something else');
  expect(readRecapLevel(storage)).toBeNull();
});

test('days without use stand between the others', () => {
  const days = daily([used('2026-02-27', 1), used('2026-03-01', 2)], 180);
  const keys = days.map((day) => day.key);
  expect(keys.slice(-3)).toEqual(['2026-02-27', '2026-02-28', '2026-03-01']);
  // one day alone would be a wall and not a bar
  expect(keys).toHaveLength(14);
  expect(daily([used('2020-01-01', 1), used('2026-03-01', 2)], 5)).toHaveLength(5);
  expect(daily([used('', 1)], 5)).toEqual([]);
});

test('what is longer than there is room for is shown by weeks, all of it', () => {
  const rows = [used('2025-07-15', 1), used('2025-07-16', 2), used('2026-03-01', 4)];
  const { step, rows: weeks } = overTime(rows, 180);
  expect(step).toBe('week');
  expect([weeks[0]?.key, weeks.at(-1)?.key, weeks.length]).toEqual([
    '2025-07-14',
    '2026-02-23',
    33,
  ]);
  expect(weeks.reduce((sum, week) => sum + week.costUsd, 0)).toBe(7);
  expect(overTime(rows.slice(2), 180).step).toBe('day');
  expect(overTime([], 180)).toEqual({ step: 'day', rows: [] });
});

test('the tallest bar is whole, and without prices words count', () => {
  expect(bars([used('a', 4), used('b', 1)]).map((bar) => bar.share)).toEqual([1, 0.25]);
  expect(bars([used('a', 0, 10), used('b', 0, 5)]).map((bar) => bar.share)).toEqual([1, 0.5]);
  expect(bars([used('a', 0)]).map((bar) => bar.share)).toEqual([0]);
});

test('answers of another version cost a detail and not the page', () => {
  expect(readResumeReport(null)).toBeNull();
  expect(readResumeReport({ next: { kind: 'dance' } })?.next.kind).toBe('done');
  const report = readResumeReport({
    turns: [{ prompt: 'a', reply: 'b' }],
    progress: { items: 2, done: 1, percent: 50, tasks: [{ text: 'x', state: 'pending' }] },
    coverage: { categories: [{ name: 'Safety', missing: ['locks'] }] },
    choices: ['resume', 'fresh'],
  });
  expect(report).toMatchObject({
    turns: [{ prompt: 'a', reply: 'b', tools: 0, whole: true }],
    open: ['x'],
    coverage: { categories: [{ name: 'Safety', missing: ['locks'] }], problem: null },
    fresh: true,
  });
  expect(readUsage({ rows: [{ key: 'k', costUsd: 'x' }] })?.rows[0]?.costUsd).toBe(0);
});

test('a new session is told where the old one stood', () => {
  const report = readResumeReport({
    next: { kind: 'continue', text: 'build it', prompt: 'Continue with: build it' },
    recap: { quick: 'We built half of it.' },
    decisions: [{ about: 'Which colour?', decision: 'red', reason: 'it is warm' }],
    progress: { tasks: [{ text: 'build it', state: 'pending' }] },
    work: { files: [{ path: '/code/shop/a.py' }] },
    warnings: [{ code: 'directory_gone', message: 'Its directory is gone.' }],
    choices: ['resume', 'fresh'],
  });
  expect(report?.gone).toBe(true);
  expect(report && handoverPrompt(report, '/code/shop')).toBe(
    [
      'This goes on from an earlier session. We built half of it.',
      'Decided there:\n- Which colour?: red (it is warm)',
      'Still to do:\n- build it',
      'Files changed there:\n- a.py',
      'Much may have changed since: look at how things are now before you change anything.',
      'Continue with: build it',
    ].join('\n\n'),
  );
});

test('a checklist is read with its categories, and what is odd in it is left out', () => {
  const category = {
    name: 'security',
    items: 4,
    done: 3,
    percent: 75,
    status: 'in_progress',
    confidence: 0.8,
    missing: ['auditing'],
    keyPoints: [{ text: 'Only admins.', at: '2026-03-01' }, { text: 7 }],
    asked: { text: 'Who?', at: null },
    discussed: '2026-03-01',
  };
  const next = { category: 'security', item: 'auditing', prompt: 'Let’s go on' };
  const checklist = { file: 'c.yml', items: 4, done: 3, percent: 75, readiness: 61, next };
  const report = readResumeReport({
    coverage: {
      ...checklist,
      complete: false,
      categories: [category, { name: 'odd', status: 7 }, 7],
    },
    outcome: 'givenUp',
    specification: 'SPEC.md',
  });
  expect(report?.coverage).toMatchObject({ percent: 75, readiness: 61, next, read: true });
  expect(report?.coverage?.categories).toEqual([
    { ...category, keyPoints: [{ text: 'Only admins.', at: '2026-03-01' }] },
    expect.objectContaining({ name: 'odd', status: 'not_started', missing: [], asked: null }),
  ]);
  expect(report).toMatchObject({ outcome: 'givenUp', specification: 'SPEC.md' });
  expect(readResumeReport({ outcome: 'else' })).toMatchObject({ outcome: null, coverage: null });
});

test('a specification needs a file', () => {
  const specification = { path: 'SPEC.md', text: '# Shop', modified: null, cut: false };
  expect(readSpecification({ ...specification, size: 6 })).toEqual(specification);
  expect(readSpecification({ text: '# Shop' })).toBe(null);
});
