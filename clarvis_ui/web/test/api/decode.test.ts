import { expect, test } from 'vitest';
import { count, each, fieldsOf, flag, number, oneOf, text } from '../../src/api/decode';
import type * as Wire from '../../src/api/schema';

const session = fieldsOf<Wire.Session>({
  id: 'a',
  size: 'x',
  state: 'odd',
  archived: 1,
  tokens: 7,
});

test('what is missing or of another type is null', () => {
  expect(text(session?.id)).toBe('a');
  expect(number(session?.size)).toBe(null);
  expect(oneOf(['idle', 'starting', 'running', 'waiting', 'error'], session?.state)).toBe(null);
  expect(flag(session?.archived)).toBe(false);
  expect(count(session?.unreadable)).toBe(0);
  expect(fieldsOf<Wire.Session>([])).toBe(null);
  expect(each(fieldsOf<Wire.SessionList>({ sessions: {} })?.sessions, text<unknown>)).toEqual([]);
});

test('what the contract has otherwise does not compile', () => {
  // @ts-expect-error: the contract has no such field
  text(session?.colour);
  // @ts-expect-error: a number
  text(session?.size);
  // @ts-expect-error: a word
  number(session?.title);
  // @ts-expect-error: an object
  flag(session?.tokens);
  // @ts-expect-error: the contract has other words there too
  oneOf(['idle', 'running'], session?.state);
  // @ts-expect-error: no list
  each(session?.id, text);
  expect(session).not.toBe(null);
});
