import { type ReadonlySignal, signal } from '@preact/signals';
import type { Api } from '../api/client';
import { type Failure, NOT_LOGGED_IN, type Outcome } from '../api/result';
import type { Health } from '../api/sessions';

/** Whether this browser is let in. `ajar` is before anybody has answered. */
export type AuthState = 'unknown' | 'loggedIn' | 'loggedOut';

export interface Auth {
  readonly state: ReadonlySignal<AuthState>;
  /** Why the last code did not open it. */
  readonly failure: ReadonlySignal<Failure | null>;
  readonly isLoggingIn: ReadonlySignal<boolean>;
  /** With the code of a login link, or without one. */
  start(code: string | null): Promise<void>;
  logIn(code: string): Promise<void>;
  logOut(): Promise<void>;
  /** What was answered on arrival, for the first who asks: nobody has to ask the same again. */
  takeHealth(): Outcome<Health> | null;
  /** Somebody said that we are not let in any more: whether that is so, the server says. */
  verify(): Promise<void>;
  /**
   * Looks whether it is open by now: somebody logged in beside us, or a token is again what it was.
   * Answers whether anybody answered.
   */
  check(): Promise<boolean>;
}

export function createAuth(api: Api): Auth {
  const state = signal<AuthState>('unknown');
  const failure = signal<Failure | null>(null);
  const loginPoller = signal(false);
  let health: Outcome<Health> | null = null;

  /** Null where nobody said anything about it. */
  async function askServer(): Promise<boolean | null> {
    const outcome = await api.health();
    if (!outcome.ok && outcome.failure.code === NOT_LOGGED_IN) return false;
    // whoever is told about the keeper has come past the door
    return outcome.ok || outcome.failure.code.startsWith('keeper_') ? true : null;
  }

  function setLoggedOut(): void {
    // whoever is logging in sees why the last code was refused
    if (state.value !== 'loggedIn') return;
    failure.value = null;
    state.value = 'loggedOut';
  }
  api.onLoggedOut(setLoggedOut);

  async function logIn(code: string): Promise<void> {
    loginPoller.value = true;
    const outcome = await api.logIn(code);
    loginPoller.value = false;
    failure.value = outcome.ok ? null : outcome.failure;
    if (outcome.ok) state.value = 'loggedIn';
  }

  return {
    state,
    failure,
    isLoggingIn: loginPoller,
    logIn,
    async start(code) {
      if (code !== null) {
        await logIn(code);
        if (state.value === 'loggedIn') return;
      }
      // an old link is no reason to turn away who is in already
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
      // where nobody answers, the cookie is still there: to look logged out would be a lie
      const outcome = await api.logOut();
      if (outcome.ok) state.value = 'loggedOut';
    },
    async verify() {
      // an answer that we are logged out shuts it
      if (state.value === 'loggedIn') await api.health();
    },
    async check() {
      const isKnown = loginPoller.value ? null : await askServer();
      if (isKnown === true && state.value === 'loggedOut' && !loginPoller.value) {
        failure.value = null;
        state.value = 'loggedIn';
      }
      return isKnown !== null;
    },
  };
}
