import { effect, type Signal, signal } from '@preact/signals';
/** The storage of this browser; what it refuses is held until the page is closed. */
export interface BrowserStorage {
  read(key: string): unknown;
  write(key: string, value: unknown): boolean;
  forget(key: string): void;
  keys(prefix: string): string[];
  onElsewhere(listener: (key: string) => void): () => void;
}

const OURS = 'clarvis.';

export function createBrowserStorage(
  storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'> | null,
  others: Pick<Window, 'addEventListener' | 'removeEventListener'> | null = null,
): BrowserStorage {
  const here = new Map<string, unknown>();
  return {
    read(key) {
      if (here.has(key)) return here.get(key);
      try {
        return JSON.parse(storage?.getItem(OURS + key) ?? 'null');
      } catch {
        return null;
      }
    },
    write(key, value) {
      here.delete(key);
      try {
        storage?.setItem(OURS + key, JSON.stringify(value));
        if (storage !== null) return true;
      } catch {
        this.forget(key); // full, or forbidden: what was there before is no longer true
      }
      here.set(key, value);
      return false;
    },
    forget(key) {
      here.delete(key);
      try {
        storage?.removeItem(OURS + key);
      } catch {
        // what cannot be forgotten is overwritten later
      }
    },
    keys(prefix) {
      const keys = [...here.keys()].filter((key) => key.startsWith(prefix));
      try {
        for (let index = 0; index < (storage?.length ?? 0); index += 1) {
          const key = storage?.key(index);
          if (key?.startsWith(OURS + prefix)) keys.push(key.slice(OURS.length));
        }
      } catch {
        // as if there were none
      }
      return keys;
    },
    onElsewhere(listener) {
      const onStorage = ({ key }: StorageEvent): void => {
        if (key?.startsWith(OURS)) listener(key.slice(OURS.length));
      };
      others?.addEventListener('storage', onStorage);
      return () => others?.removeEventListener('storage', onStorage);
    },
  };
}

/** Some browsers throw at the mere mention of their storage. */
export function storageOf(window: Window): Storage | null {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}

/** A choice between a few words that outlives the page; the first of them where none was made. */
export function persistedSignal<T extends string>(
  storage: BrowserStorage,
  key: string,
  choices: readonly [T, ...T[]],
): Signal<T> {
  const stored = storage.read(key);
  const choice = signal<T>(choices.find((word) => word === stored) ?? choices[0]);
  effect(() => void storage.write(key, choice.value));
  return choice;
}
