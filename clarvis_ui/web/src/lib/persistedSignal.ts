import { effect, type Signal, signal } from '@preact/signals';
import type { BrowserStorage } from './storage';

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
