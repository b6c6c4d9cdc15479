import { type ReadonlySignal, signal } from '@preact/signals';
import type { Archive } from '../api/archive';
import type { Api } from '../api/client';
import { createLatestRequest } from '../api/request';
import type { Failure } from '../api/result';

export interface ArchiveStore {
  /** Null until it is known. */
  readonly status: ReadonlySignal<Archive | null>;
  readonly failure: ReadonlySignal<Failure | null>;
  start(): void;
  stop(): void;
  refresh(): Promise<void>;
  /** Keeps every transcript from now on, or no more. */
  switch(on: boolean): Promise<void>;
}

// deletions are a matter of days
const POLL_MS = 3_600_000;
// the list comes first
const FIRST_POLL_MS = 3000;

export function createArchiveStore(api: Pick<Api, 'archive' | 'switchArchive'>): ArchiveStore {
  const archive = signal<Archive | null>(null);
  const failure = signal<Failure | null>(null);
  const request = createLatestRequest();
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function receive(send: Api['archive']): Promise<void> {
    const outcome = await request.send(send);
    if (outcome === null) return;
    failure.value = outcome.ok ? null : outcome.failure;
    if (outcome.ok) archive.value = outcome.value;
  }

  async function poll(): Promise<void> {
    clearTimeout(timer);
    await receive(api.archive);
    timer = setTimeout(() => void poll(), POLL_MS);
  }

  return {
    status: archive,
    failure,
    start() {
      clearTimeout(timer);
      timer = setTimeout(() => void poll(), FIRST_POLL_MS);
    },
    stop() {
      request.stop();
      clearTimeout(timer);
      archive.value = null;
      failure.value = null;
    },
    refresh: () => receive(api.archive),
    switch: (on) => receive(() => api.switchArchive(on)),
  };
}
