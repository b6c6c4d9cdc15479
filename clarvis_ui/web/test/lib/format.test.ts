import { describe, expect, test } from 'vitest';
import {
  counted,
  fileSize,
  fullTime,
  money,
  relativeTime,
  roughly,
  withoutMarkdown,
} from '../../src/lib/format';

const NOW = Date.parse('2025-10-15T12:00:00Z'); // a Wednesday

function ago(ms: number): string {
  return relativeTime(new Date(NOW - ms).toISOString(), NOW);
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('times', () => {
  test.each([
    [0, 'now'],
    [59_999, 'now'],
    [MINUTE, '1 m'],
    [59.9 * MINUTE, '59 m'],
    [HOUR, '1 h'],
    [23.9 * HOUR, '23 h'],
    [DAY, 'Tue'],
    [5 * DAY, 'Fri'],
    [6 * DAY, '9 Oct'],
    [200 * DAY, '29 Mar'],
    [430 * DAY, '11 Aug 2024'],
  ])('%d ms ago', (age, words) => {
    expect(ago(age)).toBe(words);
  });

  test('a clock that is ahead says now', () => {
    expect(ago(-5 * HOUR)).toBe('now');
  });

  test('what is no time says nothing', () => {
    expect(relativeTime(null, NOW)).toBe('');
    expect(relativeTime('yesterday', NOW)).toBe('');
    expect(fullTime(null)).toBe('');
    expect(fullTime('yesterday')).toBe('');
  });
});

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1.0 kB'],
  [9949, '9.9 kB'],
  [9950, '10 kB'],
  [999_499, '999 kB'],
  [999_500, '1.0 MB'],
  [31_800_000, '32 MB'],
  [3_000_000_000, '3.0 GB'],
])('%d bytes', (bytes, words) => {
  expect(fileSize(bytes)).toBe(words);
});

test.each([
  [0, '$0.00'],
  [0.004, '<$0.01'],
  [0.42, '$0.42'],
  [12.3, '$12.30'],
  [1234.5, '$1,235'],
])('%d dollars', (usd, words) => {
  expect(money(usd)).toBe(words);
});

test('counts agree with their noun', () => {
  expect(counted(0, 'message')).toBe('0 messages');
  expect(counted(1, 'message')).toBe('1 message');
  expect(counted(1843, 'message')).toBe('1,843 messages');
  expect(roughly(50_000)).toBe('50K');
});

test('markdown in one line', () => {
  expect(withoutMarkdown('## Done\n\n**Two** `files`:\n- [a](https://x.y/a)\n- b_c')).toBe(
    'Done Two files: · a · b_c',
  );
  expect(withoutMarkdown('a * b * c, 2 ** 3')).toBe('a * b * c, 2 ** 3');
  expect(withoutMarkdown('So:\n```sh\nmake\n```')).toBe('So: make');
});
