import { type ReadonlySignal, signal } from '@preact/signals';
import { parseAddress, withoutLogin } from './address';

/** Where in the page one is. The address is the only place that knows; this follows it. */
export interface Place {
  readonly session: ReadonlySignal<string | null>;
  /** The code that came with the address, which from then on no longer has it. */
  takeLogin(): string | null;
  onChange(listener: () => void): void;
}

type Browser = Pick<Window, 'location' | 'history' | 'addEventListener'>;

export function createPlace(browser: Browser): Place {
  const { location, history } = browser;
  const session = signal(parseAddress(location.hash).session);

  browser.addEventListener('hashchange', () => {
    session.value = parseAddress(location.hash).session;
  });

  return {
    session,
    takeLogin() {
      const { login } = parseAddress(location.hash);
      if (login !== null) {
        const clean = `${location.pathname}${location.search}${withoutLogin(location.hash)}`;
        history.replaceState(history.state, '', clean);
      }
      return login;
    },
    onChange: (listener) => browser.addEventListener('hashchange', listener),
  };
}
