import { type ReadonlySignal, signal } from '@preact/signals';
import { fields, text, verbatim } from '../api/decode';
import { type Outcome, SESSION_ELSEWHERE } from '../api/result';
import type { Delivery } from '../conversation/openConversations';
import type { BrowserStorage } from '../lib/storage';
import { newUuid } from '../lib/uuid';
import type { Destination } from './destinations';

/**
 * Holds commands back for a few seconds after Enter, so that they can be undone. When the page is
 * left, they are sent at once.
 */
export interface UndoSend {
  /** The latest commands, oldest first. */
  readonly entries: ReadonlySignal<readonly PendingCommand[]>;
  begin(words: string, way: Destination, follow: boolean): void;
  /** Takes a command back and returns its text; null where it was too late. */
  undo(uuid: string): string | null;
  send(uuid: string): void;
  /** Sends to a fork of a session that somebody else runs. */
  sendToCopy(uuid: string): void;
  dismiss(uuid: string): void;
  /** Restores what the page had before it was reloaded. */
  restore(): void;
  sendAll(): void;
}

export interface PendingCommand {
  uuid: string;
  text: string;
  way: Destination;
  /** When it goes, by this browser's clock. */
  due: number;
  state: 'held' | 'going' | 'sent' | 'unsent';
  problem: string | null;
  /** Somebody else runs the session: a fork can get it. */
  elsewhere: boolean;
  sessionId: string | null;
  /** Whether the page opens the session. */
  follow: boolean;
}

export interface UndoSendOptions {
  deliver(delivery: Delivery): Promise<Outcome<string>>;
  storage: BrowserStorage;
  onSent(entry: PendingCommand): void;
}

export const UNDO_MS = 5000;
const SHOWN_MS = 10_000;
const SHOWN = 3;
// another tab that still counts down removes its own
const ANOTHER_TAB_MS = 3000;
const PREFIX = 'held.';

export function createUndoSend({ deliver, storage, onSent }: UndoSendOptions): UndoSend {
  const entries = signal<readonly PendingCommand[]>([]);
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  const key = (uuid: string): string => PREFIX + uuid;
  const find = (uuid: string): PendingCommand | undefined =>
    entries.value.find((entry) => entry.uuid === uuid);

  function upsert(entry: PendingCommand): void {
    const index = entries.value.findIndex(({ uuid }) => uuid === entry.uuid);
    const next = index < 0 ? [...entries.value, entry] : entries.value.toSpliced(index, 1, entry);
    const settled = next.filter(({ state }) => state === 'sent');
    const old = new Set(settled.slice(0, -SHOWN));
    entries.value = next.filter((each) => !old.has(each));
  }

  function schedule(uuid: string, ms: number, act: () => void): void {
    clearTimeout(timers.get(uuid));
    timers.set(uuid, setTimeout(act, ms));
  }

  function drop(uuid: string): void {
    clearTimeout(timers.get(uuid));
    timers.delete(uuid);
    entries.value = entries.value.filter((entry) => entry.uuid !== uuid);
  }

  async function send(entry: PendingCommand): Promise<void> {
    clearTimeout(timers.get(entry.uuid));
    const going: PendingCommand = { ...entry, due: Date.now(), state: 'going', problem: null };
    upsert(going);
    // after a reload it may be sent twice; the same uuid makes one message of it
    storage.write(key(entry.uuid), going);
    const { uuid, text: words, way } = going;
    const to =
      way.kind === 'new'
        ? { workdir: way.workdir ?? '' }
        : { sessionId: way.sessionId, copy: way.copy };
    const outcome = await deliver({
      uuid,
      text: words,
      to,
      ...(way.routing && { routing: way.routing }),
    });
    if (outcome.ok) {
      storage.forget(key(uuid));
      const sent: PendingCommand = { ...going, state: 'sent', sessionId: outcome.value };
      upsert(sent);
      schedule(uuid, SHOWN_MS, () => drop(uuid));
      onSent(sent);
      return;
    }
    const elsewhere = outcome.failure.code === SESSION_ELSEWHERE;
    const problem = elsewhere ? 'Somebody else runs this session.' : outcome.failure.sentence;
    const unsent: PendingCommand = { ...going, state: 'unsent', problem, elsewhere };
    storage.write(key(uuid), unsent);
    upsert(unsent);
  }

  function leave(): void {
    for (const entry of entries.value) if (entry.state === 'held') void send(entry);
  }

  return {
    entries,
    begin(words, way, follow) {
      leave(); // one at a time: what was said before is meant by now
      const entry: PendingCommand = {
        uuid: newUuid(),
        text: words,
        way,
        due: Date.now() + UNDO_MS,
        state: 'held',
        problem: null,
        elsewhere: false,
        sessionId: null,
        follow,
      };
      storage.write(key(entry.uuid), entry);
      upsert(entry);
      schedule(entry.uuid, UNDO_MS, () => void send(entry));
    },
    undo(uuid) {
      const entry = find(uuid);
      if (entry?.state !== 'held' && entry?.state !== 'unsent') return null;
      storage.forget(key(uuid));
      drop(uuid);
      return entry.text;
    },
    send(uuid) {
      const entry = find(uuid);
      if (entry?.state === 'held' || entry?.state === 'unsent') void send(entry);
    },
    sendToCopy(uuid) {
      const entry = find(uuid);
      if (entry?.state !== 'unsent' || entry.way.kind === 'new') return;
      void send({ ...entry, way: { ...entry.way, copy: true } });
    },
    dismiss(uuid) {
      if (find(uuid)?.state === 'sent') drop(uuid);
    },
    restore() {
      for (const storageKey of storage.keys(PREFIX)) {
        const entry = readEntry(storage.read(storageKey));
        if (!entry || find(entry.uuid)) continue;
        if (entry.state === 'unsent') upsert(entry);
        else if (entry.due <= Date.now()) void send(entry);
        else {
          schedule(entry.uuid, entry.due + ANOTHER_TAB_MS - Date.now(), () => {
            if (storage.read(storageKey) !== null) void send(entry);
          });
        }
      }
    },
    sendAll: leave,
  };
}

/** Perhaps written by another version of the page. */
function readEntry(raw: unknown): PendingCommand | null {
  const stored = fields(raw);
  const uuid = stored && text(stored.uuid);
  const way = readWay(stored?.way);
  if (!stored || !uuid || !way || verbatim(stored.text) === '') return null;
  const unsent = stored.state === 'unsent';
  return {
    uuid,
    text: verbatim(stored.text),
    way,
    due: typeof stored.due === 'number' ? stored.due : 0,
    state: unsent ? 'unsent' : 'held',
    problem: text(stored.problem),
    elsewhere: stored.elsewhere === true,
    sessionId: null,
    follow: false,
  };
}

function readWay(raw: unknown): Destination | null {
  const stored = fields(raw);
  const sessionId = text(stored?.sessionId);
  const routing = text(stored?.routing);
  const routed = routing === null ? {} : { routing };
  if (stored?.kind === 'resume' && sessionId) {
    const title = text(stored.title) ?? 'Untitled session';
    return {
      kind: 'resume',
      sessionId,
      title,
      because: null,
      copy: stored.copy === true,
      ...routed,
    };
  }
  const workdir = text(stored?.workdir);
  return stored?.kind === 'new' && workdir
    ? { kind: 'new', workdir, because: null, ...routed }
    : null;
}
