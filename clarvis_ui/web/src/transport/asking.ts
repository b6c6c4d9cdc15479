import {
  CANCELLED,
  CLARVIS_UNREACHABLE,
  failed,
  NOT_UNDERSTOOD,
  type Outcome,
  success,
} from './outcome';
import { readFailure } from './wire';

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export interface Asked {
  body?: unknown;
  signal?: AbortSignal | undefined;
  /** Goes out even if the page is left at once. */
  keepalive?: boolean;
}

/** One request, its answer read, whatever goes wrong told as a value. */
export type Ask = <T>(
  method: Method,
  path: string,
  read: (raw: unknown) => T | null,
  asked?: Asked,
) => Promise<Outcome<T>>;

const PATIENCE_MS = 20_000;
// browsers refuse to keep larger requests alive
const KEPT_ALIVE = 60_000;

export function createAsk(fetcher: typeof fetch): Ask {
  return async (method, path, read, { body, signal, keepalive } = {}) => {
    const patience = AbortSignal.timeout(PATIENCE_MS);
    const words = method === 'GET' ? null : JSON.stringify(body ?? {});
    let answer: Response;
    let raw: unknown;
    try {
      answer = await fetcher(path, {
        method,
        signal: signal ? AbortSignal.any([signal, patience]) : patience,
        ...(words !== null && {
          headers: { 'Content-Type': 'application/json' },
          body: words,
          ...(keepalive && words.length < KEPT_ALIVE && { keepalive }),
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
        failure?.choices,
      );
    }
    const value = read(raw);
    return value === null
      ? failed(NOT_UNDERSTOOD, 'The server gave an answer that this page does not understand.')
      : success(value);
  };
}
