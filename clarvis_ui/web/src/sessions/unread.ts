import { signal } from '@preact/signals';
import { fields } from '../api/decode';
import type { Session } from '../api/sessions';
import type { BrowserStorage } from '../lib/storage';

/** Which sessions have unread messages. */
export interface Unread {
  isUnread(session: Session): boolean;
  see(session: Session): void;
  /** Reads again what other tabs stored. */
  readAgain(): void;
}

type Seen = readonly [modified: string, messages: number | null];

interface Book {
  /** Older sessions count as read, so that the first visit shows no dots. */
  since: string;
  seen: Readonly<Record<string, Seen>>;
}

const KEY = 'seen';
const MAX_SEEN = 1000;

export function createUnread(storage: BrowserStorage, now: () => number = Date.now): Unread {
  const record = signal(open(storage, now));

  return {
    isUnread(session) {
      const modified = session.modified ?? '';
      const seen = Object.hasOwn(record.value.seen, session.id)
        ? record.value.seen[session.id]
        : undefined;
      if (!seen) return modified > record.value.since;
      // a transcript may be touched without a new message
      const same = session.messageCount !== null && session.messageCount === seen[1];
      return modified > seen[0] && !same;
    },
    see(session) {
      const seen: Seen = [session.modified ?? '', session.messageCount];
      const before = record.value.seen[session.id];
      if (before?.[0] === seen[0] && before[1] === seen[1]) return;
      const { [session.id]: _, ...others } = record.value.seen;
      const newest = Object.entries(others).slice(-MAX_SEEN + 1);
      record.value = {
        ...record.value,
        seen: { ...Object.fromEntries(newest), [session.id]: seen },
      };
      storage.write(KEY, record.value);
    },
    readAgain() {
      record.value = open(storage, now);
    },
  };
}

function open(storage: BrowserStorage, now: () => number): Book {
  const stored = readBook(storage.read(KEY));
  if (stored) return stored;
  const fresh = { since: new Date(now()).toISOString(), seen: {} };
  storage.write(KEY, fresh);
  return fresh;
}

/** Perhaps written by another version of the page. */
function readBook(raw: unknown): Book | null {
  const since = fields(raw)?.since;
  const seen = fields(fields(raw)?.seen);
  if (typeof since !== 'string' || !seen) return null;
  const whole = Object.entries(seen).filter(
    (entry): entry is [string, [string, number | null]] =>
      Array.isArray(entry[1]) && typeof entry[1][0] === 'string',
  );
  return { since, seen: Object.fromEntries(whole) };
}
