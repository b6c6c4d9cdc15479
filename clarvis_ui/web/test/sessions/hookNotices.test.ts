import { expect, test } from 'vitest';
import { createEventBus } from '../../src/api/eventBus';
import type { KeeperEvent } from '../../src/api/events';
import { createHookNotices } from '../../src/sessions/hookNotices';
import { at, message, SESSION } from '../support/world';

function notified(event: string, text: string | null = null): KeeperEvent {
  return { ...at(1), type: 'session/notified', event, text, reason: null };
}

test('the last word of a terminal stands until somebody goes on there', () => {
  const events = createEventBus();
  const notices = createHookNotices(events);
  const last = () => notices.texts.value.get(SESSION);
  events.publish([notified('Notification', 'Claude is waiting for your input')]);
  expect(last()).toBe('Claude is waiting for your input');
  const reply = message('r', { role: 'assistant', kind: 'reply' });
  events.publish([{ ...at(2), type: 'message/added', message: reply, after: null }]);
  expect(last()).toBe('Claude is waiting for your input');
  events.publish([notified('Stop')]);
  expect(last()).toBe('Claude has finished.');
  events.publish([{ ...at(3), type: 'message/added', message: message('p'), after: null }]);
  expect(last()).toBeUndefined();
  events.publish([notified('Stop'), notified('SessionEnd')]);
  expect(last()).toBeUndefined();
});
