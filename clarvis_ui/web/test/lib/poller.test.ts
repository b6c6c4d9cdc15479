import { expect, test } from 'vitest';
import { retryDelay } from '../../src/lib/poller';

test('waits grow to half a minute and no further', () => {
  expect([1, 2, 3, 4, 5, 6, 20].map((failures) => retryDelay(failures, 0.5))).toEqual([
    1000, 2000, 4000, 8000, 16_000, 30_000, 30_000,
  ]);
});

test('many pages do not come all at once', () => {
  expect(retryDelay(1, 0)).toBe(800);
  expect(retryDelay(1, 1)).toBe(1200);
});
