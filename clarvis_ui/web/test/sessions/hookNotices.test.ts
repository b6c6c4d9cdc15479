import { expect, test } from 'vitest';
import type { KeeperEvent } from '../../src/api/events';
import { createTold } from '../../src/sessions/hookNotices';
import { at, message, SESSION } from '../support/world';

function notified(event: string, text: string | null = null): KeeperEvent {
  return { ...at(1), type: 'session/notified', event, text, reason: null };
}

test('the last word of a terminal stands until somebody goes on there', () => {
  const told = createTold();
  const last = () => told.last.value.get(SESSION);
  told.hear([notified('Notification', 'Claude is waiting for your input')]);
  expect(last()).toBe('Claude is waiting for your input');
  const reply = message('r', { role: 'assistant', kind: 'reply' });
  told.hear([{ ...at(2), type: 'message/added', message: reply, after: null }]);
  expect(last()).toBe('Claude is waiting for your input');
  told.hear([notified('Stop')]);
  expect(last()).toBe('Claude has finished.');
  told.hear([{ ...at(3), type: 'message/added', message: message('p'), after: null }]);
  expect(last()).toBeUndefined();
  told.hear([notified('Stop'), notified('SessionEnd')]);
  expect(last()).toBeUndefined();
});
