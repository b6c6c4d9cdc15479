import { type ReadonlySignal, signal } from '@preact/signals';
import type { Api } from '../api/client';
import { type Failure, NOT_LOGGED_IN, type Outcome } from '../api/result';
import type { Health } from '../api/sessions';

/** Whether this browser is logged in. `unknown`: the server has not answered yet. */
export type AuthState = 'unknown' | 'loggedIn' | 'loggedOut';

export interface Auth {
  readonly state: ReadonlySignal<AuthState>;
  /** Why the last code was refused. */
  readonly failure: ReadonlySignal<Failure | null>;
  readonly isLoggingIn: ReadonlySignal<boolean>;
  /** Logs in with the code of a login link, or finds out whether the cookie still holds. */
  start(code: string | null): Promise<void>;
  logIn(code: string): Promise<void>;
  logOut(): Promise<void>;
  /** The answer of `start` about the keeper; given once, so that the list need not request it again. */
  takeHealth(): Outcome<Health> | null;
  /** The socket was closed as logged out: asks the server whether that is so. */
  verify(): Promise<void>;
  /** Finds out whether another tab has logged in meanwhile; false where the server did not answer. */
  check(): Promise<boolean>;
}

export function createAuth(api: Api): Auth {
  const state = signal<AuthState>('unknown');
  const failure = signal<Failure | null>(null);
  const isLoggingIn = signal(false);
  let health: Outcome<Health> | null = null;

  /** Whether we are logged in; null where the server does not answer. */
  async function askServer(): Promise<boolean | null> {
    const outcome = await api.health();
    if (!outcome.ok && outcome.failure.code === NOT_LOGGED_IN) return false;
    // errors about the keeper are only sent to those who are logged in
    return outcome.ok || outcome.failure.code.startsWith('keeper_') ? true : null;
  }

  function setLoggedOut(): void {
    // on the login page, the reason of the last refusal stays
    if (state.value !== 'loggedIn') return;
    failure.value = null;
    state.value = 'loggedOut';
  }
  api.onLoggedOut(setLoggedOut);

  async function logIn(code: string): Promise<void> {
    isLoggingIn.value = true;
    const outcome = await api.logIn(code);
    isLoggingIn.value = false;
    failure.value = outcome.ok ? null : outcome.failure;
    if (outcome.ok) state.value = 'loggedIn';
  }

  return {
    state,
    failure,
    isLoggingIn,
    logIn,
    async start(code) {
      if (code !== null) {
        await logIn(code);
        if (state.value === 'loggedIn') return;
      }
      // an old link does not log out
      const outcome = await api.health();
      const isLoggedOut = !outcome.ok && outcome.failure.code === NOT_LOGGED_IN;
      health = isLoggedOut ? null : outcome;
      state.value = isLoggedOut ? 'loggedOut' : 'loggedIn';
      if (!isLoggedOut) failure.value = null;
    },
    takeHealth() {
      const first = health;
      health = null;
      return first;
    },
    async logOut() {
      // without an answer the cookie is still valid: the page must not look logged out
      const outcome = await api.logOut();
      if (outcome.ok) state.value = 'loggedOut';
    },
    async verify() {
      // its answer reaches setLoggedOut
      if (state.value === 'loggedIn') await api.health();
    },
    async check() {
      const isLoggedIn = isLoggingIn.value ? null : await askServer();
      if (isLoggedIn === true && state.value === 'loggedOut' && !isLoggingIn.value) {
        failure.value = null;
        state.value = 'loggedIn';
      }
      return isLoggedIn !== null;
    },
  };
}
