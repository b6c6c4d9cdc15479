import { useEffect, useState } from 'preact/hooks';
import type { Failure, Outcome } from '../api/result';

/** What is known of an answer: the last one that came, and why none did since. */
export interface Answer<T> {
  value: T | null;
  failure: Failure | null;
}

const NOTHING: Answer<never> = { value: null, failure: null };

/** Sends a request again whenever its inputs change; null sends none, and forgets the answer. */
export function useRequest<T>(
  send: ((signal: AbortSignal) => Promise<Outcome<T>>) | null,
  inputs: readonly unknown[],
  pauseMs = 0,
): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>(NOTHING);
  useAbortableEffect(
    async (signal) => {
      setAnswer((before) => {
        if (send === null) return NOTHING;
        return before.failure === null ? before : { ...before, failure: null };
      });
      if (send === null) return;
      const outcome = await send(signal);
      if (signal.aborted) return;
      setAnswer(({ value }) =>
        outcome.ok ? { value: outcome.value, failure: null } : { value, failure: outcome.failure },
      );
    },
    [...inputs, send === null],
    send === null ? 0 : pauseMs,
  );
  return send === null ? NOTHING : answer;
}

/** An effect whose signal is aborted when the inputs change, or the component goes. */
export function useAbortableEffect(
  run: (signal: AbortSignal) => void,
  inputs: readonly unknown[],
  /** Milliseconds for which the inputs have to rest before it runs. */
  pauseMs = 0,
): void {
  useEffect(() => {
    const leaving = new AbortController();
    if (pauseMs === 0) run(leaving.signal);
    else {
      const timer = setTimeout(() => run(leaving.signal), pauseMs);
      leaving.signal.addEventListener('abort', () => clearTimeout(timer));
    }
    return () => leaving.abort();
  }, inputs);
}
