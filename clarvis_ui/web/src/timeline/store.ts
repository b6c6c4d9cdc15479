import { type ReadonlySignal, signal } from '@preact/signals';
import type { Api } from '../api/client';
import { CANCELLED, type Failure, NOT_LOGGED_IN } from '../api/result';
import type { Looked, Timeline } from '../api/timeline';

/** What was done when, of one thing at a time; asked again while not every line is read. */
export interface Looking {
  /** Null until it is known of what was asked for last. */
  readonly timeline: ReadonlySignal<Timeline | null>;
  readonly failure: ReadonlySignal<Failure | null>;
  ask(looked: Looked): Promise<void>;
  stop(): void;
}

const AGAIN_MS = 2000;

export function createLooking(
  api: Pick<Api, 'timeline'>,
  prompts: number,
  onLoggedOut: () => void,
): Looking {
  const timeline = signal<Timeline | null>(null);
  const failure = signal<Failure | null>(null);
  let running: AbortController | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let shown = '';

  function stop(): void {
    clearTimeout(timer);
    running?.abort();
    running = null;
  }

  async function ask(looked: Looked): Promise<void> {
    stop();
    const name = JSON.stringify(looked);
    // of the same thing, what is known stays until it is known better
    if (name !== shown) {
      timeline.value = null;
      failure.value = null;
    }
    shown = name;
    const mine = new AbortController();
    running = mine;
    const outcome = await api.timeline(looked, prompts, mine.signal);
    if (mine !== running) return; // something else is looked at by now
    if (!outcome.ok) {
      if (outcome.failure.code === NOT_LOGGED_IN) onLoggedOut();
      if (outcome.failure.code !== CANCELLED) failure.value = outcome.failure;
      return;
    }
    failure.value = null;
    timeline.value = outcome.value;
    if (!outcome.value.complete) timer = setTimeout(() => void ask(looked), AGAIN_MS);
  }

  return { timeline, failure, ask, stop };
}
