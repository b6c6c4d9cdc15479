import { effect, type Signal, signal } from '@preact/signals';
import type { BrowserStorage } from './storage';

/** A choice between a few words that outlives the page; the first of them where none was made. */
export function persistedSignal<T extends string>(
  memory: BrowserStorage,
  key: string,
  choices: readonly [T, ...T[]],
): Signal<T> {
  const stored = memory.read(key);
  const choice = signal<T>(choices.find((word) => word === stored) ?? choices[0]);
  effect(() => void memory.write(key, choice.value));
  return choice;
}
