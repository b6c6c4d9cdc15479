import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { Wanted } from '../api/search';
import type { Looked } from '../api/timeline';
import { parseRoute, type Route, withoutLogin } from './routes';

/** The current route. It follows the fragment of the address. */
export interface Router {
  readonly session: ReadonlySignal<string | null>;
  readonly inbox: ReadonlySignal<boolean>;
  readonly archive: ReadonlySignal<boolean>;
  readonly usage: ReadonlySignal<boolean>;
  readonly search: ReadonlySignal<Wanted | null>;
  readonly timeline: ReadonlySignal<Looked | null>;
  readonly branches: ReadonlySignal<Route['branches']>;
  /** Takes the login code out of the address. */
  takeLoginCode(): string | null;
  onChange(listener: () => void): void;
}

type Browser = Pick<Window, 'location' | 'history' | 'addEventListener'>;

export function createRouter(browser: Browser): Router {
  const { location, history } = browser;
  const here = signal(parseRoute(location.hash));

  browser.addEventListener('hashchange', () => {
    here.value = parseRoute(location.hash);
  });

  return {
    session: computed(() => here.value.session),
    inbox: computed(() => here.value.inbox),
    archive: computed(() => here.value.archive),
    usage: computed(() => here.value.usage),
    search: computed(() => here.value.search),
    timeline: computed(() => here.value.timeline),
    branches: computed(() => here.value.branches),
    takeLoginCode() {
      const { login } = parseRoute(location.hash);
      if (login !== null) {
        const clean = `${location.pathname}${location.search}${withoutLogin(location.hash)}`;
        history.replaceState(history.state, '', clean);
      }
      return login;
    },
    onChange: (listener) => browser.addEventListener('hashchange', listener),
  };
}
