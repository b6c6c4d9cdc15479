import { expect, test } from 'vitest';
import { createEventBus } from '../../src/api/eventBus';
import type { KeeperEvent } from '../../src/api/events';
import type { Block } from '../../src/api/messages';
import { createActivity } from '../../src/sessions/activity';
import { at, message, SESSION } from '../support/world';

const added = (content: unknown[], parentToolUseId: string | null = null): KeeperEvent => ({
  ...at(1),
  type: 'message/added',
  message: message('m', { content: content as Block[], parentToolUseId }),
  after: null,
});
const finished = (sessionId: string): KeeperEvent => ({
  ...at(2),
  sessionId,
  type: 'turn/finished',
  uuid: null,
  outcome: 'done',
  error: null,
  costUsd: null,
  durationMs: null,
});
const error = { code: 'cli_crashed', message: 'It crashed.' };
const failed: KeeperEvent = { ...at(2), type: 'session/failed', uuid: null, error };
const started: KeeperEvent = { ...at(1), type: 'turn/started', uuid: null };
const status = { status: 'working' } as never;
const tests = { type: 'tool_use', name: 'Bash', input: { command: 'npm test' } };

test.each([
  [[started], 'thinking…'],
  [[started, added([tests])], 'running npm test…'],
  [[started, added([tests]), added([{ type: 'tool_result' }])], 'thinking…'],
  [[started, added([{ type: 'text', text: 'So' }])], 'writing…'],
  [[started, added([tests]), added([{ type: 'text' }], 'toolu_1')], 'running npm test…'],
  [[started, added([tests]), added([]), added(['odd']), added([{}])], 'running npm test…'],
  [[started, added([tests]), { ...at(2), type: 'turn/status', status }], 'running npm test…'],
  [[started, added([{ type: 'tool_use', name: 7 }])], 'using a tool…'],
  [[started, finished(SESSION)], undefined],
  [[started, failed], undefined],
  [[started, finished('other')], 'thinking…'],
] satisfies [KeeperEvent[], string | undefined][])('%j', (happened, text) => {
  const events = createEventBus();
  const activity = createActivity(events);
  events.publish(happened);
  expect(activity.texts.value.get(SESSION)).toBe(text);
});

test('the same words are no change', () => {
  const events = createEventBus();
  const activity = createActivity(events);
  events.publish([started]);
  const before = activity.texts.value;
  events.publish([started]);
  expect(activity.texts.value).toBe(before);
  activity.forget();
  expect(activity.texts.value.size).toBe(0);
});
