import { expect, test } from 'vitest';
import { usageChangeKey } from '../../src/usage/changeKey';
import { sample } from '../support/samples';

const tokens = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 };
const listed = (...sessions: ReturnType<typeof sample>[]) =>
  usageChangeKey({ sessions: new Map(sessions.map((session) => [session.id, session])) });

test('what was used changes it, and so does a session that was found', () => {
  const before = listed({ ...sample(1), tokens });
  expect(listed({ ...sample(1), tokens, title: 'another' })).toBe(before);
  expect(listed({ ...sample(1), tokens: { ...tokens, output: 3 } })).not.toBe(before);
  expect(listed({ ...sample(1), tokens }, sample(2))).not.toBe(before);
});
