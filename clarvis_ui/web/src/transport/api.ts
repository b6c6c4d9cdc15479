import {
  CANCELLED,
  CLARVIS_UNREACHABLE,
  failed,
  NOT_UNDERSTOOD,
  type Outcome,
  success,
} from './outcome';
import {
  type Health,
  readFailure,
  readHealth,
  readSession,
  readSessionsPage,
  type Session,
  type SessionsPage,
} from './wire';

/** Everything the page asks of its server. Stores are made over this, so tests can stand in for it. */
export interface Api {
  health(signal?: AbortSignal): Promise<Outcome<Health>>;
  sessions(cursor: string | null, signal?: AbortSignal): Promise<Outcome<SessionsPage>>;
  rename(id: string, name: string | null): Promise<Outcome<Session>>;
  logIn(code: string): Promise<Outcome<null>>;
  logOut(): Promise<Outcome<null>>;
}

export const PAGE_SIZE = 200;
const PATIENCE_MS = 20_000;

export function createApi(fetcher: typeof fetch): Api {
  async function ask<T>(
    method: 'GET' | 'POST' | 'PATCH',
    path: string,
    read: (raw: unknown) => T | null,
    { body, signal }: { body?: unknown; signal?: AbortSignal | undefined } = {},
  ): Promise<Outcome<T>> {
    const patience = AbortSignal.timeout(PATIENCE_MS);
    let answer: Response;
    let raw: unknown;
    try {
      answer = await fetcher(path, {
        method,
        signal: signal ? AbortSignal.any([signal, patience]) : patience,
        ...(method !== 'GET' && {
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(body ?? {}),
        }),
      });
      raw = await answer.json();
    } catch (error) {
      if (signal?.aborted) return failed(CANCELLED, 'This was no longer wanted.');
      if (error instanceof SyntaxError) {
        return failed(
          NOT_UNDERSTOOD,
          'The server gave an answer that this page does not understand.',
        );
      }
      return failed(CLARVIS_UNREACHABLE, 'Clarvis does not answer.');
    }
    if (!answer.ok) {
      const failure = readFailure(raw);
      return failed(
        failure?.code ?? NOT_UNDERSTOOD,
        failure?.message ?? `The server refused this with status ${answer.status}.`,
      );
    }
    const value = read(raw);
    return value === null
      ? failed(NOT_UNDERSTOOD, 'The server gave an answer that this page does not understand.')
      : success(value);
  }

  /** For answers whose content says no more than that they came. */
  async function done(path: string, body?: unknown): Promise<Outcome<null>> {
    const outcome = await ask('POST', path, () => true, { body });
    return outcome.ok ? success(null) : outcome;
  }

  return {
    health: (signal) => ask('GET', '/api/health', readHealth, { signal }),
    sessions(cursor, signal) {
      const query = new URLSearchParams({ limit: String(PAGE_SIZE) });
      if (cursor !== null) query.set('cursor', cursor);
      return ask('GET', `/api/sessions?${query}`, readSessionsPage, { signal });
    },
    rename: (id, name) =>
      ask('PATCH', `/api/sessions/${encodeURIComponent(id)}`, readSession, { body: { name } }),
    logIn: (code) => done('/login', { code }),
    logOut: () => done('/logout'),
  };
}
