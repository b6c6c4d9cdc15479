import { beforeEach, expect, test, vi } from 'vitest';
import { createEventBus, type EventBus } from '../../src/api/eventBus';
import type { KeeperEvent } from '../../src/api/events';
import { createReadAloud, type ReadAloud, speakable } from '../../src/command/readAloud';
import { createBrowserStorage } from '../../src/lib/storage';
import { FakeStorage } from '../support/fakes';
import { at, message } from '../support/world';

const speak = vi.fn();
let events: EventBus;
let readAloud: ReadAloud;

beforeEach(() => {
  speak.mockReset();
  events = createEventBus();
  readAloud = createReadAloud(events, createBrowserStorage(new FakeStorage()), speak);
});

function turn(uuid: string, words: string, outcome: 'done' | 'failed' = 'done'): KeeperEvent[] {
  const reply = message(`r ${uuid}`, {
    role: 'assistant',
    kind: 'reply',
    content: [{ type: 'text', text: words }],
  });
  const ended = { error: null, costUsd: null, durationMs: null };
  return [
    { ...at(1), type: 'message/added', message: reply, after: null },
    { ...at(2), type: 'turn/finished', uuid, outcome, ...ended },
  ];
}

test('only the replies to what was said in the bar are read, and only if one wants it', () => {
  readAloud.expect('a');
  events.publish(turn('a', 'Done.'));
  expect(speak).not.toHaveBeenCalled();
  readAloud.state.value = 'on';
  events.publish(turn('b', 'Somebody else asked.'));
  readAloud.expect('c');
  events.publish(turn('c', 'All **41** tests pass.'));
  readAloud.expect('d');
  events.publish(turn('d', 'Broken.', 'failed'));
  expect(speak.mock.calls).toEqual([['All 41 tests pass.']]);
});

test.each([
  ['It is in [login.py](src/login.py), `revoke()`.', 'It is in login.py, revoke().'],
  ['# Done\n\n- one\n- two', 'Done one two'],
  ['```\ncode\n```', null],
  ['| a | b |\n| - | - |', null],
  ['word '.repeat(100), null],
  ['', null],
])('%j is said as %j', (reply, words) => {
  expect(speakable(reply)).toBe(words);
});
