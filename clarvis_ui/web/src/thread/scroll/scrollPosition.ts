/** Where one was reading in each session, over refreshes and in new tabs. */

export type ScrollPosition =
  | { at: 'end' }
  /** A row, and how far below the upper edge it stood. */
  | { at: 'row'; key: string; uuid: string; offset: number };

const NAME = 'clarvis.reading';
const MAX_SESSIONS = 300;

type Entries = [session: string, key: string, uuid: string, offset: number][];

function read(storage: Storage): Entries {
  try {
    const stored: unknown = JSON.parse(storage.getItem(NAME) ?? '[]');
    return Array.isArray(stored) ? stored.filter(isEntry) : [];
  } catch {
    return [];
  }
}

function isEntry(raw: unknown): raw is Entries[number] {
  return (
    Array.isArray(raw) &&
    raw.slice(0, 3).every((part) => typeof part === 'string') &&
    typeof raw[3] === 'number'
  );
}

export function readScrollPosition(storage: Storage, session: string): ScrollPosition {
  const entry = read(storage).find(([id]) => id === session);
  return entry ? { at: 'row', key: entry[1], uuid: entry[2], offset: entry[3] } : { at: 'end' };
}

export function writeScrollPosition(
  storage: Storage,
  session: string,
  position: ScrollPosition,
): void {
  const others = read(storage).filter(([id]) => id !== session);
  // the end needs no entry: it is where everything opens
  if (position.at === 'row')
    others.unshift([session, position.key, position.uuid, Math.round(position.offset)]);
  try {
    storage.setItem(NAME, JSON.stringify(others.slice(0, MAX_SESSIONS)));
  } catch {
    // storage is full or forbidden: then everything opens at its end
  }
}
