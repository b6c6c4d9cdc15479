import { type ReadonlySignal, signal } from '@preact/signals';
import type { Api } from '../api/client';
import { createLatestRequest } from '../api/request';
import type { Failure } from '../api/result';
import type { Timeline, TimelineQuery } from '../api/timeline';

export interface TimelineStore {
  /** Null until the latest query is answered. */
  readonly timeline: ReadonlySignal<Timeline | null>;
  readonly failure: ReadonlySignal<Failure | null>;
  load(query: TimelineQuery): Promise<void>;
  stop(): void;
}

const AGAIN_MS = 2000;

export function createTimelineStore(api: Pick<Api, 'timeline'>, prompts: number): TimelineStore {
  const timeline = signal<Timeline | null>(null);
  const failure = signal<Failure | null>(null);
  const request = createLatestRequest();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let currentKey = '';

  function stop(): void {
    clearTimeout(timer);
    request.stop();
  }

  async function ask(query: TimelineQuery): Promise<void> {
    stop();
    const name = JSON.stringify(query);
    // for the same query, the old answer stays until the new one
    if (name !== currentKey) {
      timeline.value = null;
      failure.value = null;
    }
    currentKey = name;
    const outcome = await request.send((signal) => api.timeline(query, prompts, signal));
    if (outcome === null) return;
    failure.value = outcome.ok ? null : outcome.failure;
    if (!outcome.ok) return;
    timeline.value = outcome.value;
    if (!outcome.value.complete) timer = setTimeout(() => void ask(query), AGAIN_MS);
  }

  return { timeline, failure, load: ask, stop };
}
