import { type ReadonlySignal, signal } from '@preact/signals';
import type { Archive } from '../api/archive';
import type { Api } from '../api/client';
import { createLatestRequest } from '../api/request';
import type { Failure } from '../api/result';

/** What is kept of what Claude Code deletes, asked for now and then. */
export interface ArchiveStore {
  /** Null until it is known. */
  readonly status: ReadonlySignal<Archive | null>;
  readonly failure: ReadonlySignal<Failure | null>;
  start(): void;
  /** Forget everything: whoever comes next may not be allowed to see it. */
  stop(): void;
  refresh(): Promise<void>;
  /** Keeps every transcript from now on, or no more. */
  switch(on: boolean): Promise<void>;
}

// deletions are a matter of days
const EVERY_MS = 3_600_000;
// the list comes first
const FIRST_MS = 3000;

export function createArchiveStore(api: Pick<Api, 'archive' | 'switchArchive'>): ArchiveStore {
  const archive = signal<Archive | null>(null);
  const failure = signal<Failure | null>(null);
  const request = createLatestRequest();
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function take(send: Api['archive']): Promise<void> {
    const outcome = await request.send(send);
    if (outcome === null) return;
    failure.value = outcome.ok ? null : outcome.failure;
    if (outcome.ok) archive.value = outcome.value;
  }

  async function look(): Promise<void> {
    clearTimeout(timer);
    await take(api.archive);
    timer = setTimeout(() => void look(), EVERY_MS);
  }

  return {
    status: archive,
    failure,
    start() {
      clearTimeout(timer);
      timer = setTimeout(() => void look(), FIRST_MS);
    },
    stop() {
      request.stop();
      clearTimeout(timer);
      archive.value = null;
      failure.value = null;
    },
    refresh: () => take(api.archive),
    switch: (on) => take(() => api.switchArchive(on)),
  };
}
