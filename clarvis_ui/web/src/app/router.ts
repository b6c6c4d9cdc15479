import { type ReadonlySignal, signal } from '@preact/signals';
import { parseRoute, type Route, withoutLogin } from './routes';

/** The current route. It follows the fragment of the address. */
export interface Router {
  readonly route: ReadonlySignal<Route>;
  /** Takes the login code out of the address. */
  takeLoginCode(): string | null;
  onChange(listener: () => void): void;
}

type Browser = Pick<Window, 'location' | 'history' | 'addEventListener'>;

export function createRouter(browser: Browser): Router {
  const { location, history } = browser;
  const route = signal(parseRoute(location.hash));

  browser.addEventListener('hashchange', () => {
    route.value = parseRoute(location.hash);
  });

  return {
    route,
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
