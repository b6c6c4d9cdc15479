import { effect, signal } from '@preact/signals';
import { expect, test } from 'vitest';
import { createEventBus } from '../../src/api/eventBus';
import type { KeeperEvent } from '../../src/api/events';
import { at } from '../support/world';

const started = (uuid: string): KeeperEvent => ({ ...at(1), type: 'turn/started', uuid });
const removed: KeeperEvent = { ...at(2), type: 'session/removed' };

test('a listener gets the types that it registered for, in their order', () => {
  const bus = createEventBus();
  const delivered: string[] = [];
  bus.on(['turn/started', 'session/removed'], ({ type }) => delivered.push(type));
  bus.on('turn/started', ({ uuid }) => delivered.push(`${uuid}`));
  bus.publish([started('a'), removed, started('b')]);
  expect(delivered).toEqual(['turn/started', 'session/removed', 'turn/started', 'a', 'b']);
});

test('its undo ends it', () => {
  const bus = createEventBus();
  const delivered: unknown[] = [];
  const undo = bus.on('session/removed', (event) => delivered.push(event));
  undo();
  bus.publish([removed]);
  expect(delivered).toEqual([]);
});

test('what a batch changes is seen once', () => {
  const bus = createEventBus();
  const count = signal(0);
  const seen: number[] = [];
  bus.on('turn/started', () => {
    count.value += 1;
  });
  const stop = effect(() => void seen.push(count.value));
  bus.publish([started('a'), started('b')]);
  stop();
  expect(seen).toEqual([0, 2]);
});
