import { effect, type Signal, signal } from '@preact/signals';

/** What the browser keeps for us, or nothing where it refuses to. */
export type Shelf = Pick<Storage, 'getItem' | 'setItem'>;

/** A choice between a few words that outlives the page. */
export function remembered<T extends string>(
  shelf: Shelf | null,
  key: string,
  choices: readonly [T, ...T[]],
): Signal<T> {
  const kept = read(shelf, key);
  const choice = signal<T>(choices.find((word) => word === kept) ?? choices[0]);
  effect(() => write(shelf, key, choice.value));
  return choice;
}

/** Asking for the shelf is refused in some private windows; reading and writing in others. */
export function shelfOf(browser: { readonly localStorage: Storage }): Shelf | null {
  try {
    return browser.localStorage;
  } catch {
    return null;
  }
}

export function read(shelf: Shelf | null, key: string): string | null {
  try {
    return shelf?.getItem(key) ?? null;
  } catch {
    return null;
  }
}

export function write(shelf: Shelf | null, key: string, value: string): void {
  try {
    shelf?.setItem(key, value);
  } catch {
    // full, or refused: it is forgotten with the page
  }
}
