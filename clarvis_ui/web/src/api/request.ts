import {
  CANCELLED,
  CLARVIS_UNREACHABLE,
  failed,
  NOT_LOGGED_IN,
  NOT_UNDERSTOOD,
  type Outcome,
  success,
} from './result';
import { readFailure } from './sessions';

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export interface RequestOptions {
  body?: unknown;
  signal?: AbortSignal | undefined;
  /** Is sent even if the page is closed at once. */
  keepalive?: boolean;
}

/** Sends a request and reads its answer. Whatever goes wrong is a value. */
export type SendRequest = <T>(
  method: Method,
  path: string,
  read: (raw: unknown) => T | null,
  options?: RequestOptions,
) => Promise<Outcome<T>>;

export interface Requests {
  send: SendRequest;
  /** Calls whenever the server answers that this browser is not logged in; returns the undo. */
  onLoggedOut(listener: () => void): () => void;
}

/** After so long a silence the server counts as unreachable. */
const TIMEOUT_MS = 20_000;
/** Bytes per millisecond of a slow connection: an upload of images gets the time it needs. */
const SLOWEST_UPLOAD = 20;
// bytes: browsers refuse to keep larger requests alive
const MAX_KEEPALIVE = 60_000;

export function createRequests(fetcher: typeof fetch): Requests {
  const send = sendWith(fetcher);
  const listeners = new Set<() => void>();
  return {
    async send(...request) {
      const outcome = await send(...request);
      const isLoggedOut = !outcome.ok && outcome.failure.code === NOT_LOGGED_IN;
      if (isLoggedOut) for (const listener of listeners) listener();
      return outcome;
    },
    onLoggedOut(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** Requests of one kind of which only the latest counts. */
export interface LatestRequest {
  readonly isRunning: boolean;
  /** Aborts the request before. Null: a later request or `stop` aborted this one. */
  send<T>(send: (signal: AbortSignal) => Promise<T>): Promise<T | null>;
  stop(): void;
}

export function createLatestRequest(): LatestRequest {
  let latest: AbortController | null = null;

  function stop(): void {
    latest?.abort();
    latest = null;
  }

  return {
    get isRunning() {
      return latest !== null;
    },
    async send(send) {
      stop();
      const own = new AbortController();
      latest = own;
      const answer = await send(own.signal);
      if (latest !== own) return null;
      latest = null;
      return answer;
    },
    stop,
  };
}

function sendWith(fetcher: typeof fetch): SendRequest {
  return async (method, path, read, { body, signal, keepalive } = {}) => {
    const json = method === 'GET' ? null : JSON.stringify(body ?? {});
    const timeout = createSilenceTimeout((json?.length ?? 0) / SLOWEST_UPLOAD);
    let response: Response;
    let raw: unknown;
    let text = '';
    try {
      response = await fetcher(path, {
        method,
        signal: signal ? AbortSignal.any([signal, timeout.over]) : timeout.over,
        ...(json !== null && {
          headers: { 'Content-Type': 'application/json' },
          body: json,
          ...(keepalive && isSmall(json) && { keepalive }),
        }),
      });
      text = await readText(response, timeout.renew);
      raw = JSON.parse(text);
    } catch (error) {
      if (signal?.aborted) return failed(CANCELLED, 'This was no longer wanted.');
      if (error instanceof SyntaxError) {
        const reason = failureInLastLine(text);
        if (reason) return failed(reason.code, reason.message);
        return failed(
          NOT_UNDERSTOOD,
          'The server gave an answer that this page does not understand.',
        );
      }
      return failed(CLARVIS_UNREACHABLE, 'Clarvis does not answer.');
    } finally {
      timeout.end();
    }
    if (!response.ok) {
      const failure = readFailure(raw);
      return failed(
        failure?.code ?? NOT_UNDERSTOOD,
        failure?.message ?? `The server refused this with status ${response.status}.`,
        failure?.choices,
      );
    }
    const value = read(raw);
    return value === null
      ? failed(NOT_UNDERSTOOD, 'The server gave an answer that this page does not understand.')
      : success(value);
  };
}

function isSmall(words: string): boolean {
  return words.length < MAX_KEEPALIVE && new TextEncoder().encode(words).length < MAX_KEEPALIVE;
}

/** Counts from the last bytes: a long answer may take its time. */
function createSilenceTimeout(more: number) {
  const ended = new AbortController();
  const wait = (ms: number) => setTimeout(() => ended.abort(), ms);
  let timer = wait(TIMEOUT_MS + more);
  const end = (): void => clearTimeout(timer);
  return {
    over: ended.signal,
    end,
    renew() {
      end();
      timer = wait(TIMEOUT_MS);
    },
  };
}

/** A stream that breaks off says why in its last line. */
function failureInLastLine(words: string): ReturnType<typeof readFailure> {
  try {
    return readFailure(JSON.parse(words.trimEnd().split('\n').at(-1) ?? ''));
  } catch {
    return null;
  }
}

async function readText(answer: Response, onPiece: () => void): Promise<string> {
  const decoder = new TextDecoder();
  let words = '';
  const reader = answer.body?.getReader();
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    onPiece();
    words += decoder.decode(value, { stream: true });
  }
  return words + decoder.decode();
}
