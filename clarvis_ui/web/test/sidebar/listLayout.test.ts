import { describe, expect, test } from 'vitest';
import type { Session } from '../../src/api/sessions';
import { groupByProject } from '../../src/sessions/groupByProject';
import {
  HEADING_HEIGHT,
  layOut,
  listIndexOf,
  ROW_HEIGHT,
  rowAfterKey,
  rowTop,
  scrollToReveal,
  scrollToShow,
  steadyTop,
  topOf,
  visibleSections,
} from '../../src/sidebar/listLayout';
import { sample } from '../support/samples';

const drawnRows = (rowCounts: number[], top: number, height: number) =>
  visibleSections(layOut(rowCounts), top, height).reduce((sum, s) => sum + s.end - s.first, 0);

describe('what is drawn', () => {
  test('all of a short list', () => {
    expect(visibleSections(layOut([2, 1]), 0, 900)).toEqual([
      { index: 0, first: 0, end: 2 },
      { index: 1, first: 0, end: 1 },
    ]);
  });

  test('of ten thousand rows, as many as the eye can see and some more', () => {
    const many = Array.from({ length: 100 }, () => 100);
    for (const top of [0, 12_345, 400_000, layOut(many).height - 900]) {
      expect(drawnRows(many, top, 900)).toBeLessThan(40);
      expect(drawnRows(many, top, 900)).toBeGreaterThan(10);
    }
  });

  test('every row that is in sight', () => {
    const layout = layOut([3, 50, 1, 20]);
    for (let top = 0; top < layout.height; top += 37) {
      const visible = visibleSections(layout, top, 300);
      layout.sections.forEach((section, index) => {
        for (let row = 0; row < section.rows; row += 1) {
          const y = rowTop(layout, { section: index, row });
          if (y + ROW_HEIGHT <= top || y >= top + 300) continue;
          const drawn = visible.find((v) => v.index === index);
          expect(drawn && drawn.first <= row && row < drawn.end).toBe(true);
        }
      });
    }
  });

  test('nothing of nothing', () => {
    expect(visibleSections(layOut([]), 0, 900)).toEqual([]);
  });
});

describe('scrolling to a row', () => {
  test('does not move what is in sight', () => {
    expect(scrollToShow(200, 100, 500)).toBe(100);
    expect(scrollToReveal(200, 100, 500)).toBe(100);
  });

  test('moves as little as it must', () => {
    expect(scrollToShow(100, 100, 500)).toBe(100 - HEADING_HEIGHT);
    expect(scrollToShow(590, 100, 500)).toBe(590 + ROW_HEIGHT - 500);
    expect(scrollToReveal(590, 100, 500)).toBe(590 + ROW_HEIGHT - 500);
  });

  test('puts what was far away into the middle', () => {
    expect(scrollToReveal(5000, 0, 500)).toBe(5000 - (500 - ROW_HEIGHT) / 2);
  });
});

const index = (sessions: Session[]) => listIndexOf(groupByProject(sessions));
const many = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => sample(from - index));

describe('a list that changes while one reads', () => {
  const before = index(many(100, 50));
  const reading = (topOf(before, 'id-0080') ?? 0) + 10;

  test('does not move when something new comes in above', () => {
    const after = index([sample(101), ...many(100, 50)]);
    expect(steadyTop(before, after, reading, 500)).toBe(reading + ROW_HEIGHT);
  });

  test('does not follow a row that goes to the top', () => {
    const moved = sample(80, { modified: '2030-01-01T00:00:00Z' });
    const after = index([moved, ...many(100, 50).filter((s) => s.id !== moved.id)]);
    expect(steadyTop(before, after, reading, 500)).toBe(reading);
  });

  test('goes with the row that is open, if it is in sight', () => {
    const moved = sample(80, { modified: '2030-01-01T00:00:00Z' });
    const after = index([moved, ...many(100, 50).filter((s) => s.id !== moved.id)]);
    const shift = (topOf(after, moved.id) ?? 0) - (topOf(before, moved.id) ?? 0);
    expect(steadyTop(before, after, reading, 500, moved.id)).toBe(Math.max(0, reading + shift));
    expect(steadyTop(before, after, reading, 500, sample(55).id)).toBe(reading);
  });

  test('shows what is new to who is at the top', () => {
    expect(steadyTop(before, index([sample(101), ...many(100, 50)]), 0, 500)).toBe(0);
  });

  test('stays where it is if nothing is left of it', () => {
    expect(steadyTop(before, index([sample(1)]), reading, 500)).toBe(reading);
  });
});

describe('keys', () => {
  const list = index([sample(20, { workdir: '/a', project: 'a' }), ...many(19, 15)]);

  test.each([
    [null, 'ArrowDown', 'id-0020'],
    [null, 'ArrowUp', 'id-0020'],
    ['id-0020', 'ArrowDown', 'id-0019'],
    ['id-0019', 'ArrowUp', 'id-0020'],
    ['id-0020', 'ArrowUp', 'id-0020'],
    ['id-0005', 'ArrowDown', 'id-0005'],
    ['id-0010', 'Home', 'id-0020'],
    ['id-0010', 'End', 'id-0005'],
    ['id-0019', 'PageDown', 'id-0011'],
    ['id-0019', 'PageUp', 'id-0020'],
    ['gone', 'ArrowDown', 'id-0020'],
    ['id-0010', 'x', null],
  ])('from %s by %s', (id, key, expected) => {
    expect(rowAfterKey(list, id, key)).toBe(expected);
  });

  test('lead nowhere in an empty list', () => {
    expect(rowAfterKey(index([]), null, 'ArrowDown')).toBe(null);
  });
});
