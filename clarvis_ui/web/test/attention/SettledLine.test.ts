import { expect, test } from 'vitest';
import { readAttention } from '../../src/api/attention';
import { settledWords } from '../../src/attention/cards/SettledLine';
import type { SettledAttention } from '../../src/attention/inbox';

test.each([
  ['allow', 'terminal', 'Allowed in the terminal:'],
  ['deny', 'terminal', 'Denied in the terminal:'],
  ['withdrawn', 'terminal', 'Answered in the terminal:'],
  ['withdrawn', null, 'No longer asked:'],
  ['allow', 'Clarvis on iPhone', 'Allowed by Clarvis on iPhone:'],
] as const)('%s by %s', (decision, by, words) => {
  const attention = readAttention({ id: '1', sessionId: 's', tool: 'Bash' });
  expect(settledWords({ attention, decision, by, mine: false } as SettledAttention)).toBe(words);
});
