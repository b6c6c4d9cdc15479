import { describe, expect, test } from 'vitest';
import { groupByTime } from '../../src/sessions/groupByTime';
import { sample } from '../support/samples';

const NOW = new Date(2025, 9, 28, 10, 30).getTime();
const at = (...parts: [number, number, number, number?]) =>
  new Date(parts[0], parts[1], parts[2], parts[3] ?? 0).toISOString();

describe('headings of time', () => {
  test('are those of memory', () => {
    const sessions = [
      at(2025, 9, 28, 10),
      at(2025, 9, 28),
      at(2025, 9, 27, 23),
      at(2025, 9, 24),
      at(2025, 9, 10),
      at(2025, 8, 3),
      at(2025, 8, 1),
      at(2024, 8, 1),
    ].map((modified, index) => sample(index, { modified }));
    const sections = groupByTime([...sessions, sample(9, { modified: null })], NOW);
    expect(sections.map(({ label, sessions }) => [label, sessions.length])).toEqual([
      ['Today', 2],
      ['Yesterday', 1],
      ['Last seven days', 1],
      ['Last thirty days', 1],
      ['September 2025', 2],
      ['September 2024', 1],
      ['No known time', 1],
    ]);
  });

  test('what a clock ahead of ours wrote is of today', () => {
    const [section] = groupByTime([sample(1, { modified: at(2025, 9, 30) })], NOW);
    expect(section?.label).toBe('Today');
  });

  test('nothing has none', () => {
    expect(groupByTime([], NOW)).toEqual([]);
  });
});
