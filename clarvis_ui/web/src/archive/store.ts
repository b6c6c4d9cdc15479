import { type ReadonlySignal, signal } from '@preact/signals';
import type { Archive } from '../api/archive';
import type { Api } from '../api/client';
import { type Failure, NOT_LOGGED_IN, type Outcome } from '../api/result';

/** What is kept of what Claude Code deletes, asked for now and then. */
export interface Kept {
  /** Null until it is known. */
  readonly archive: ReadonlySignal<Archive | null>;
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

export function createKept(
  api: Pick<Api, 'archive' | 'switchArchive'>,
  onLoggedOut: () => void,
): Kept {
  const archive = signal<Archive | null>(null);
  const failure = signal<Failure | null>(null);
  let life = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function take(asking: Promise<Outcome<Archive>>): Promise<void> {
    const mine = life;
    const outcome = await asking;
    if (mine !== life) return; // stopped in the meantime: what was forgotten stays forgotten
    failure.value = outcome.ok ? null : outcome.failure;
    if (outcome.ok) archive.value = outcome.value;
    else if (outcome.failure.code === NOT_LOGGED_IN) onLoggedOut();
  }

  async function look(): Promise<void> {
    clearTimeout(timer);
    await take(api.archive());
    timer = setTimeout(() => void look(), EVERY_MS);
  }

  return {
    archive,
    failure,
    start() {
      clearTimeout(timer);
      timer = setTimeout(() => void look(), FIRST_MS);
    },
    stop() {
      life += 1;
      clearTimeout(timer);
      archive.value = null;
      failure.value = null;
    },
    refresh: () => take(api.archive()),
    switch: (on) => take(api.switchArchive(on)),
  };
}
