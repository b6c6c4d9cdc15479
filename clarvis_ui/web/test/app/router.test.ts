import { expect, test, vi } from 'vitest';
import { createRouter } from '../../src/app/router';

function browserAt(hash: string) {
  const listeners: (() => void)[] = [];
  const browser = {
    location: { hash, pathname: '/', search: '' },
    history: {
      state: null,
      replaceState: vi.fn((_state: unknown, _title: string, url: string) => {
        browser.location.hash = url.slice(url.indexOf('#') + 1 || url.length);
      }),
    },
    addEventListener: (_type: string, listener: () => void) => listeners.push(listener),
    goTo(next: string) {
      browser.location.hash = next;
      for (const listener of listeners) listener();
    },
  };
  return browser;
}

const placeOf = (browser: ReturnType<typeof browserAt>) =>
  createRouter(browser as unknown as Parameters<typeof createRouter>[0]);

test('a code is taken out of the address at once, and the rest stays', () => {
  const browser = browserAt('#login=AAAA&session=abc');
  const router = placeOf(browser);
  expect(router.takeLoginCode()).toBe('AAAA');
  expect(browser.history.replaceState).toHaveBeenCalledWith(null, '', '/#session=abc');
  expect(router.route.value.session).toBe('abc');
});

test('without a code the address is left alone', () => {
  const browser = browserAt('#session=abc');
  expect(placeOf(browser).takeLoginCode()).toBe(null);
  expect(browser.history.replaceState).not.toHaveBeenCalled();
});

test('the place follows the address', () => {
  const browser = browserAt('');
  const router = placeOf(browser);
  expect(router.route.value.session).toBe(null);
  browser.goTo('#session=abc');
  expect(router.route.value.session).toBe('abc');
  browser.goTo('#');
  expect(router.route.value.session).toBe(null);
});
