import { expect, test } from 'vitest';
import { type ActivityEvent, createActivity } from '../../src/sessions/activity';

const said = (content: unknown[], parentToolUseId: string | null = null): ActivityEvent => ({
  type: 'message/added',
  sessionId: 's',
  message: { content, parentToolUseId },
});
const started = { type: 'turn/started', sessionId: 's' };
const tests = { type: 'tool_use', name: 'Bash', input: { command: 'npm test' } };

test.each([
  [[started], 'thinking…'],
  [[started, said([tests])], 'running npm test…'],
  [[started, said([tests]), said([{ type: 'tool_result' }])], 'thinking…'],
  [[started, said([{ type: 'text', text: 'So' }])], 'writing…'],
  [[started, said([tests]), said([{ type: 'text' }], 'toolu_1')], 'running npm test…'],
  [[started, said([tests]), said([]), said(['odd']), said([{}])], 'running npm test…'],
  [[started, said([tests]), { type: 'attention/raised', sessionId: 's' }], 'running npm test…'],
  [[started, said([{ type: 'tool_use', name: 7 }])], 'using a tool…'],
  [[started, { type: 'turn/finished', sessionId: 's' }], undefined],
  [[started, { type: 'session/failed', sessionId: 's' }], undefined],
  [[started, { type: 'turn/finished', sessionId: 'other' }], 'thinking…'],
])('%j', (events, words) => {
  const activity = createActivity();
  for (const event of events) activity.note(event);
  expect(activity.doing.value.get('s')).toBe(words);
});

test('the same words are no change', () => {
  const activity = createActivity();
  activity.note(started);
  const before = activity.doing.value;
  activity.note(started);
  expect(activity.doing.value).toBe(before);
  activity.forget();
  expect(activity.doing.value.size).toBe(0);
});
