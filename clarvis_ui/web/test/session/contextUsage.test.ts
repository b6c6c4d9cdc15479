import { expect, test } from 'vitest';
import { modelName } from '../../src/session/contextUsage';

test.each([
  ['claude-opus-5-5-20260101', 'Opus 5.5'],
  ['claude-sonnet-5', 'Sonnet 5'],
  ['claude-sonnet-5-5[1m]', 'Sonnet 5.5 1M'],
  // chosen by its short name, before Claude Code has said what that is now
  ['opus', 'Opus'],
  ['sonnet[1m]', 'Sonnet 1M'],
  ['somebody/else-7b', 'somebody/else-7b'],
])('%s is called %s', (model, name) => {
  expect(modelName(model)).toBe(name);
});
