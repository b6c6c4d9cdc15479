import {
  CANCELLED,
  CLARVIS_UNREACHABLE,
  failed,
  NOT_UNDERSTOOD,
  type Outcome,
  success,
} from './result';
import { readFailure } from './sessions';

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

/** Nothing heard for so long: nobody is there. */
const PATIENCE_MS = 20_000;
/** What a poor line carries in a millisecond: a message with images is not given up half-way. */
const SLOWEST_UPLOAD = 20;
// bytes: browsers refuse to keep larger requests alive
const KEPT_ALIVE = 60_000;

export function createAsk(fetcher: typeof fetch): Ask {
  return async (method, path, read, { body, signal, keepalive } = {}) => {
    const words = method === 'GET' ? null : JSON.stringify(body ?? {});
    const patience = createPatience((words?.length ?? 0) / SLOWEST_UPLOAD);
    let answer: Response;
    let raw: unknown;
    let came = '';
    try {
      answer = await fetcher(path, {
        method,
        signal: signal ? AbortSignal.any([signal, patience.over]) : patience.over,
        ...(words !== null && {
          headers: { 'Content-Type': 'application/json' },
          body: words,
          ...(keepalive && isSmall(words) && { keepalive }),
        }),
      });
      came = await wordsOf(answer, patience.renew);
      raw = JSON.parse(came);
    } catch (error) {
      if (signal?.aborted) return failed(CANCELLED, 'This was no longer wanted.');
      if (error instanceof SyntaxError) {
        const reason = lastLineOf(came);
        if (reason) return failed(reason.code, reason.message);
        return failed(
          NOT_UNDERSTOOD,
          'The server gave an answer that this page does not understand.',
        );
      }
      return failed(CLARVIS_UNREACHABLE, 'Clarvis does not answer.');
    } finally {
      patience.end();
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

function isSmall(words: string): boolean {
  return words.length < KEPT_ALIVE && new TextEncoder().encode(words).length < KEPT_ALIVE;
}

/** Ends with a silence, not after a while: on a slow line a long answer takes its time. */
function createPatience(more: number) {
  const ended = new AbortController();
  const wait = (ms: number) => setTimeout(() => ended.abort(), ms);
  let timer = wait(PATIENCE_MS + more);
  const end = (): void => clearTimeout(timer);
  return {
    over: ended.signal,
    end,
    renew() {
      end();
      timer = wait(PATIENCE_MS);
    },
  };
}

/** A stream that could not go on says why in a line of its own. */
function lastLineOf(words: string): ReturnType<typeof readFailure> {
  try {
    return readFailure(JSON.parse(words.trimEnd().split('\n').at(-1) ?? ''));
  } catch {
    return null;
  }
}

async function wordsOf(answer: Response, onPiece: () => void): Promise<string> {
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
