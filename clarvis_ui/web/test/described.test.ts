import { describe, expect, test } from 'vitest';
import { resumeCommand, statusOf, summaryOf, titleOf } from '../src/state/described';
import { sample } from './samples';

test('the name that a user gave wins', () => {
  expect(titleOf(sample(1, { name: 'Mine' }))).toBe('Mine');
  expect(titleOf(sample(1))).toBe('Title 1');
  expect(titleOf(sample(1, { title: null }))).toBe('first of 1');
  expect(titleOf(sample(1, { title: null, firstPrompt: null }))).toBe('Untitled session');
});

test('a summary does not repeat the title', () => {
  expect(summaryOf(sample(1))).toBe('last of 1');
  expect(summaryOf(sample(1, { title: 'last of 1' }))).toBe('first of 1');
  expect(summaryOf(sample(1, { title: 'x', lastPrompt: 'x', firstPrompt: 'x' }))).toBe(
    '/code/payments-api',
  );
});

test.each([
  [{ state: 'idle' }, 'quiet', 'idle'],
  [{ state: 'idle', origin: 'terminal' }, 'terminal', 'in a terminal · idle'],
  [{ state: 'running', origin: 'gateway' }, 'running', 'running…'],
  [{ state: 'running', origin: 'terminal' }, 'running', 'running in a terminal'],
  [{ state: 'starting' }, 'running', 'starting…'],
  [{ state: 'waiting', origin: 'gateway' }, 'waiting', 'waiting for you'],
  [{ state: 'waiting', origin: 'terminal' }, 'waiting', 'waiting in a terminal'],
  [{ state: 'error', error: { code: 'x', message: 'It broke.' } }, 'broken', 'It broke.'],
  [{ state: 'error' }, 'broken', 'transcript cannot be read'],
] as const)('%o', (changes, tone, words) => {
  expect(statusOf(sample(1, changes))).toEqual({ tone, words });
});

describe('the command to go on', () => {
  const command = (workdir: string | null, id = 'abc') =>
    resumeCommand(sample(1, { workdir, id })).join('');

  test('goes to the directory first', () => {
    expect(command('/code/api')).toBe('cd /code/api && claude --resume abc');
  });

  test.each([
    ["/it's", "cd '/it'\\''s' && claude --resume abc"],
    ['/a b', "cd '/a b' && claude --resume abc"],
    ['/$(touch c)', "cd '/$(touch c)' && claude --resume abc"],
    ['/a;rm -rf ~', "cd '/a;rm -rf ~' && claude --resume abc"],
  ])('quotes %s', (workdir, expected) => {
    expect(command(workdir)).toBe(expected);
  });

  test.each([null, '-rf', 'relative', '/a\nb', '/a\u001b[2J', '/a\r', '/a\u202eb'])(
    'leaves out %j',
    (workdir) => {
      expect(command(workdir)).toBe('claude --resume abc');
    },
  );

  test('quotes an id that is none', () => {
    expect(command(null, 'a; touch c')).toBe("claude --resume 'a; touch c'");
  });
});
