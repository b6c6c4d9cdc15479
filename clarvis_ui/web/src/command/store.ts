import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { Api } from '../api/client';
import { verbatim } from '../api/decode';
import { createLatestRequest } from '../api/request';
import type { Failure, Outcome } from '../api/result';
import type { Routing } from '../api/routing';
import type { Session } from '../api/sessions';
import type { BrowserStorage } from '../lib/storage';
import { type Destination, destinationKey, destinationsOf } from './destinations';

/** The text of the command bar, and its destination. */
export interface CommandStore {
  readonly isOpen: Signal<boolean>;
  /** Kept over refreshes until it is sent. */
  readonly text: ReadonlySignal<string>;
  readonly destinations: ReadonlySignal<readonly Destination[]>;
  readonly chosen: ReadonlySignal<Destination>;
  readonly isRouting: ReadonlySignal<boolean>;
  readonly failure: ReadonlySignal<Failure | null>;
  readonly workdir: ReadonlySignal<string | null>;
  write(text: string): void;
  choose(destination: Destination): void;
  turn(step: 1 | -1): void;
  /** Chooses a new session in this directory. */
  chooseWorkdir(workdir: string): void;
  suggest(workdir: string | null): void;
  /** Sends the text once its destination is known; false where it is not yet. */
  send(): Promise<boolean>;
}

export interface CommandStoreOptions {
  api: Pick<Api, 'route'>;
  storage: BrowserStorage;
  sessions: ReadonlySignal<ReadonlyMap<string, Session>>;
  onSend(text: string, destination: Destination): void;
}

const KEY = 'command';
// after this pause of typing the request is sent
const PAUSE_MS = 120;

interface Routed {
  words: string;
  routing: Routing | null;
}

export function createCommandStore({
  api,
  storage,
  sessions,
  onSend,
}: CommandStoreOptions): CommandStore {
  const isOpen = signal(false);
  const text = signal(verbatim(storage.read(KEY)));
  const routed = signal<Routed>({ words: '', routing: null });
  const failure = signal<Failure | null>(null);
  const chosenKey = signal<string | null>(null);
  const chosenWorkdir = signal<string | null>(null);
  const suggestedWorkdir = signal<string | null>(null);
  const request = createLatestRequest();
  let pause: ReturnType<typeof setTimeout> | undefined;

  const words = computed(() => text.value.trim());
  const workdir = computed(() => chosenWorkdir.value ?? suggestedWorkdir.value);
  const destinations = computed(() =>
    destinationsOf(routed.value.routing, sessions.value, workdir.value),
  );
  const chosen = computed(
    () =>
      destinations.value.find((destination) => destinationKey(destination) === chosenKey.value) ??
      (destinations.value[0] as Destination),
  );

  async function route(): Promise<Outcome<Routing> | null> {
    clearTimeout(pause);
    const requested = words.value;
    const outcome = await request.send((signal) => api.route(requested, signal));
    if (outcome === null) return null;
    batch(() => {
      failure.value = outcome.ok ? null : outcome.failure;
      routed.value = { words: requested, routing: outcome.ok ? outcome.value : null };
    });
    return outcome;
  }

  function write(next: string): void {
    const before = words.value;
    text.value = next;
    if (next === '') storage.forget(KEY);
    else storage.write(KEY, next);
    if (words.value === before) return;
    clearTimeout(pause);
    if (words.value !== '') pause = setTimeout(() => void route(), PAUSE_MS);
    else forgetAnswer();
  }

  function forgetAnswer(): void {
    request.stop();
    batch(() => {
      routed.value = { words: '', routing: null };
      failure.value = null;
      chosenKey.value = null;
    });
  }

  if (words.value !== '') pause = setTimeout(() => void route(), PAUSE_MS);

  return {
    isOpen,
    text,
    destinations,
    chosen,
    isRouting: computed(() => words.value !== routed.value.words),
    failure,
    workdir,
    write,
    choose(destination) {
      chosenKey.value = destinationKey(destination);
    },
    turn(step) {
      const at = destinations.value.indexOf(chosen.value);
      const next = destinations.value.at((at + step) % destinations.value.length);
      if (next) chosenKey.value = destinationKey(next);
    },
    chooseWorkdir(path) {
      chosenWorkdir.value = path;
      chosenKey.value = 'new';
    },
    suggest(path) {
      suggestedWorkdir.value = path;
    },
    async send() {
      const command = words.value;
      if (command === '') return false;
      if (command !== routed.value.words && chosenKey.value === null) {
        const outcome = await route();
        // no destination, or the text has changed meanwhile
        if (!outcome?.ok || words.value !== command) return false;
      }
      const destination = chosen.value;
      if (destination.kind === 'new' && destination.workdir === null) return false;
      onSend(command, destination);
      batch(() => {
        chosenWorkdir.value = null;
        write('');
      });
      return true;
    },
  };
}
