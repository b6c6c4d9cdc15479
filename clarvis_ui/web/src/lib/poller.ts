/** Repeats a task every few seconds while the page is visible, less often while it fails. */
export interface Poller {
  start(): void;
  stop(): void;
  now(): void;
}

export interface PageVisibility {
  isHidden(): boolean;
  /** Calls when the page becomes visible, or the machine is back on a network. */
  onReturn(listener: () => void): () => void;
}

const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 30_000;

/** 1, 2, 4, … 30 seconds, with jitter so that many pages do not retry at once. */
export function retryDelay(failures: number, random: number): number {
  const base = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1));
  return Math.round(base * (0.8 + 0.4 * random));
}

/** `task` returns whether it succeeded; two runs never overlap. */
export function createPoller(
  task: (signal: AbortSignal) => Promise<boolean>,
  attention: PageVisibility,
  everyMs: () => number,
): Poller {
  let lifetime: AbortController | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let working = false;
  let failures = 0;

  async function run(signal: AbortSignal): Promise<void> {
    clearTimeout(timer);
    if (working || signal.aborted) return;
    working = true;
    const succeeded = await task(signal);
    working = false;
    if (signal.aborted) {
      // started again while the last run was still ending
      if (lifetime) void run(lifetime.signal);
      return;
    }
    failures = succeeded ? 0 : failures + 1;
    if (attention.isHidden()) return; // the return wakes it
    const delay = succeeded ? everyMs() : retryDelay(failures, Math.random());
    timer = setTimeout(() => void run(signal), delay);
  }

  function now(): void {
    if (lifetime) void run(lifetime.signal);
  }

  return {
    start() {
      if (lifetime) return;
      lifetime = new AbortController();
      lifetime.signal.addEventListener('abort', attention.onReturn(now));
      failures = 0;
      now();
    },
    stop() {
      clearTimeout(timer);
      lifetime?.abort();
      lifetime = null;
    },
    now,
  };
}

export function pageVisibilityOf(document: Document, window: Window): PageVisibility {
  return {
    isHidden: () => document.visibilityState === 'hidden',
    onReturn(listener) {
      const onVisible = () => {
        if (document.visibilityState === 'visible') listener();
      };
      document.addEventListener('visibilitychange', onVisible);
      window.addEventListener('online', listener);
      return () => {
        document.removeEventListener('visibilitychange', onVisible);
        window.removeEventListener('online', listener);
      };
    },
  };
}
