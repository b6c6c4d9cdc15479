import { expect, test } from 'vitest';
import { iconOf, tabTitle } from '../../src/app/tabTitle';

test('the title says how much waits, and where one is', () => {
  expect(tabTitle(0, null)).toBe('Clarvis');
  expect(tabTitle(2, 'Fix the login')).toBe('(2) Fix the login · Clarvis');
});

test('the icon has the number, as far as it can be read', () => {
  const iconText = (waiting: number) =>
    />([^<]*)<\/text>/.exec(decodeURIComponent(iconOf(waiting)))?.[1];
  expect(iconOf(0)).toBe('/favicon.svg');
  expect([1, 9, 10, 200].map(iconText)).toEqual(['1', '9', '9+', '9+']);
});
