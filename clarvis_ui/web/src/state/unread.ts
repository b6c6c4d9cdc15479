import { signal } from '@preact/signals';
import type { Session } from '../transport/wire';
import { read, type Shelf, write } from './remembered';

/** Which sessions have something that was not looked at yet. */
export interface Unread {
  isUnread(session: Session): boolean;
  /** It is on the screen as it stands now. */
  see(session: Session): void;
  /** Another tab has seen something. */
  readAgain(): void;
}

/** What a session was when it was last looked at. */
type Seen = readonly [modified: string, messages: number | null];

interface Book {
  /** Older than this is no news: nobody wants a thousand dots at the first visit. */
  since: string;
  seen: Readonly<Record<string, Seen>>;
}

export const SEEN_KEY = 'clarvis.seen';
const KEPT = 1000;

export function createUnread(shelf: Shelf | null, now: () => number = Date.now): Unread {
  const book = signal(open(shelf, now));

  return {
    isUnread(session) {
      const modified = session.modified ?? '';
      const seen = Object.hasOwn(book.value.seen, session.id)
        ? book.value.seen[session.id]
        : undefined;
      if (!seen) return modified > book.value.since;
      // a transcript is also touched without a word being said
      const same = session.messageCount !== null && session.messageCount === seen[1];
      return modified > seen[0] && !same;
    },
    see(session) {
      const seen: Seen = [session.modified ?? '', session.messageCount];
      const before = book.value.seen[session.id];
      if (before?.[0] === seen[0] && before[1] === seen[1]) return;
      const { [session.id]: _, ...others } = book.value.seen;
      const newest = Object.entries(others).slice(-KEPT + 1);
      book.value = { ...book.value, seen: { ...Object.fromEntries(newest), [session.id]: seen } };
      write(shelf, SEEN_KEY, JSON.stringify(book.value));
    },
    readAgain() {
      book.value = open(shelf, now);
    },
  };
}

function open(shelf: Shelf | null, now: () => number): Book {
  const kept = parse(read(shelf, SEEN_KEY));
  if (kept) return kept;
  const fresh = { since: new Date(now()).toISOString(), seen: {} };
  write(shelf, SEEN_KEY, JSON.stringify(fresh));
  return fresh;
}

/** Written by ourselves, but perhaps by another version, or by hand. */
function parse(text: string | null): Book | null {
  try {
    const { since, seen } = JSON.parse(text ?? 'null') ?? {};
    if (typeof since !== 'string' || typeof seen !== 'object' || seen === null) return null;
    const whole = Object.entries(seen).filter(
      (entry): entry is [string, [string, number | null]] =>
        Array.isArray(entry[1]) && typeof entry[1][0] === 'string',
    );
    return { since, seen: Object.fromEntries(whole) };
  } catch {
    return null;
  }
}
