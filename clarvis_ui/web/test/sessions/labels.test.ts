import { describe, expect, test } from 'vitest';
import type { Presence, Session } from '../../src/api/sessions';
import {
  activityOf,
  farWords,
  type LiveState,
  missingWords,
  progressWords,
  resumeCommand,
  sentenceOf,
  statusOf,
  summaryOf,
  titled,
  titleOf,
} from '../../src/sessions/labels';
import { sinceWords } from '../../src/sessions/presenceLabels';
import { sample } from '../support/samples';

test('the name that a user gave wins', () => {
  expect(titleOf(sample(1, { name: 'Mine' }))).toBe('Mine');
  expect(titleOf(sample(1))).toBe('Title 1');
  expect(titleOf(sample(1, { title: null }))).toBe('first of 1');
  expect(titleOf(sample(1, { title: null, firstPrompt: null }))).toBe('Untitled session');
});

test('what others tell of a session goes by the name that the list has', () => {
  const sessions = new Map([['a', sample(1, { name: 'Renamed' })]]);
  const items = [
    { sessionId: 'a', title: 'As it was' },
    { sessionId: 'b', title: 'Elsewhere' },
  ];
  expect(titled(sessions, items).map(({ title }) => title)).toEqual(['Renamed', 'Elsewhere']);
});

test('a conversation says what of it cannot be read', () => {
  expect(missingWords(sample(1))).toBe(null);
  expect(missingWords(sample(1, { unreadable: 1 }))).toBe(
    '1 line of the transcript cannot be read: what it says is not shown.',
  );
  expect(missingWords(sample(1, { unreadable: 2 }))).toBe(
    '2 lines of the transcript cannot be read: what they say is not shown.',
  );
  const error = { code: 'transcript_unreadable', message: 'No line can be read.' };
  expect(missingWords(sample(1, { unreadable: 2, error }))).toBe(null);
});

test('a summary does not repeat the title', () => {
  expect(summaryOf(sample(1))).toBe('last of 1');
  expect(summaryOf(sample(1, { title: 'last of 1' }))).toBe('first of 1');
  const prompts = { title: 'x', lastPrompt: 'x', firstPrompt: 'x' };
  expect(summaryOf(sample(1, prompts))).toBe('1 message');
  expect(summaryOf(sample(1, { ...prompts, messageCount: null }))).toBe('/code/payments-api');
});

const presence = (changes: Partial<Presence> = {}): Presence => ({
  entrypoint: 'cli',
  status: 'idle',
  waitingFor: null,
  since: '2025-10-01T08:00:00Z',
  ...changes,
});

test.each([
  [{ state: 'idle' }, 'quiet', 'idle'],
  [{ state: 'idle', error: { code: 'turn_interrupted', message: '' } }, 'broken', 'interrupted'],
  [{ state: 'idle', error: { code: 'x', message: '' }, messageCount: 0 }, 'broken', 'failed'],
  [{ state: 'idle', error: { code: 'x', message: '' } }, 'broken', 'failed'],
  [{ state: 'idle', archived: true }, 'archived', 'deleted, kept in the archive'],
  [{ state: 'running', origin: 'gateway' }, 'running', 'running…'],
  [{ state: 'starting' }, 'running', 'starting…'],
  [{ state: 'waiting', origin: 'gateway' }, 'waiting', 'waiting for you'],
  [{ state: 'waiting', origin: 'gateway', presence: presence() }, 'waiting', 'waiting for you'],
  [{ state: 'error', error: { code: 'x', message: 'It broke.' } }, 'broken', 'It broke.'],
  [{ state: 'error' }, 'broken', 'transcript cannot be read'],
] as const)('%o', (changes, tone, words) => {
  expect(statusOf(sample(1, changes))).toEqual({ tone, words });
});

describe('what runs elsewhere says where', () => {
  const waiting = (waitingFor: string | null) => presence({ status: 'waiting', waitingFor });
  test.each([
    [{ state: 'idle' }, 'terminal', 'in a terminal · idle'],
    [{ state: 'idle', presence: presence() }, 'terminal', 'in a terminal · idle'],
    [
      { state: 'running', presence: presence({ entrypoint: 'claude-vscode', status: 'busy' }) },
      'running',
      'in an editor · busy',
    ],
    [
      { state: 'running', presence: presence({ entrypoint: 'sdk-py' }) },
      'running',
      'in a script · busy',
    ],
    [
      { state: 'waiting', presence: waiting('permission prompt') },
      'waiting',
      'in a terminal · waits for permission',
    ],
    [
      { state: 'waiting', presence: waiting('input') },
      'waiting',
      'in a terminal · waits for input',
    ],
    [
      { state: 'waiting', presence: waiting(null) },
      'waiting',
      'in a terminal · waits for an answer',
    ],
    [
      { state: 'idle', presence: presence({ entrypoint: 'a-new-one' }) },
      'terminal',
      'elsewhere · idle',
    ],
  ] as const)('%o', (changes, tone, words) => {
    const status = statusOf(sample(1, { origin: 'terminal', ...changes }));
    expect(status).toMatchObject({ tone, words, elsewhere: true });
  });

  test('and since when', () => {
    const at = (iso: string) => sinceWords(iso, Date.parse('2025-10-01T08:00:00Z'));
    expect(at('2025-10-01T07:59:30Z')).toBe('');
    expect(at('2025-10-01T07:56:00Z')).toBe(' for 4 m');
    expect(at('2025-09-29T07:56:00Z')).toBe(' since Mon');
    expect(sinceWords(null, 0)).toBe('');
  });
});

test('what is known beside the row is said in its place', () => {
  const open = [{ kind: 'permission' as const, tool: 'Bash', input: { command: 'npm test' } }];
  const live = { attention: [], doing: null, unread: false };
  const of = (changes: Partial<Session>, more: Partial<LiveState>) =>
    statusOf(sample(1, changes), { ...live, ...more });
  expect(of({ state: 'waiting' }, { attention: open }).words).toBe('wants to run npm test');
  expect(of({ state: 'waiting' }, { attention: [...open, ...open] }).words).toBe(
    'wants to run npm test · 1 more',
  );
  expect(of({ state: 'running' }, { attention: open }).tone).toBe('waiting');
  expect(of({ state: 'running' }, { doing: 'editing a.py…' }).words).toBe('editing a.py…');
  expect(of({ state: 'running', origin: 'terminal' }, { doing: 'editing a.py…' }).words).toBe(
    'in a terminal · editing a.py…',
  );
  expect(of({}, { unread: true })).toEqual({ tone: 'unread', words: 'new messages' });
  expect(of({}, { doing: 'old news…' }).tone).toBe('quiet');
});

describe('what a session wants is said in words', () => {
  test.each([
    ['Bash', { command: 'npm test' }, 'wants to run npm test', 'running npm test…'],
    ['Bash', { command: 'a &&\n  b' }, 'wants to run a && b', 'running a && b…'],
    ['Edit', { file_path: '/x/login.py' }, 'wants to edit login.py', 'editing login.py…'],
    ['Write', { file_path: 'C:\\x\\a.py' }, 'wants to write a.py', 'writing a.py…'],
    ['Read', { file_path: '/x/y/' }, 'wants to read y', 'reading y…'],
    [
      'WebFetch',
      { url: 'https://a.test/b?c' },
      'wants to fetch from a.test',
      'fetching from a.test…',
    ],
    ['Grep', { pattern: 'a.*b' }, 'wants to search for a.*b', 'searching for a.*b…'],
    ['TodoWrite', { todos: [] }, 'wants to write down its tasks', 'planning…'],
    ['mcp__db__query', {}, 'wants to use query of db', 'using query of db…'],
    ['Bash', {}, 'wants to use Bash', 'using Bash…'],
    ['constructor', null, 'wants to use constructor', 'using constructor…'],
    [null, 'what', 'wants to use a tool', 'using a tool…'],
  ])('%s %j', (tool, input, sentence, activity) => {
    expect(sentenceOf({ kind: 'permission', tool, input })).toBe(sentence);
    expect(activityOf(tool, input)).toBe(activity);
  });

  test('a question is asked, a plan is ready', () => {
    const open = { kind: 'question' as const, tool: 'AskUserQuestion' };
    const questions = [{ question: 'Which database?' }, { question: 'Which port?' }];
    expect(sentenceOf({ ...open, input: { questions: questions.slice(1) } })).toBe(
      'asks: Which port?',
    );
    expect(sentenceOf({ ...open, input: { questions } })).toBe(
      'asks: Which database? (and 1 more)',
    );
    expect(sentenceOf({ ...open, input: { questions: 'none' } })).toBe('asks you something');
    expect(sentenceOf({ kind: 'plan', tool: 'ExitPlanMode', input: {} })).toBe('has a plan ready');
  });

  test('no control or direction mark comes through, and nothing endless', () => {
    const command = `rm \u202e x\u001b[2J ${'y'.repeat(500)}`;
    const sentence = sentenceOf({ kind: 'permission', tool: 'Bash', input: { command } });
    expect(sentence).toMatch(/^wants to run rm x \[2J y+…$/);
    expect(sentence.length).toBeLessThan(140);
  });
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

test('a row says how far a session is, or that it was given up', () => {
  const progress = { of: 'checklist', items: 4, done: 3, percent: 75, complete: false } as const;
  expect(farWords(sample(1))).toBe(null);
  expect(farWords(sample(1, { progress }))).toBe('75\u00a0%');
  expect(farWords(sample(1, { progress, givenUp: '2026-03-01' }))).toBe('given up');
  expect(progressWords(progress)).toBe('3 of 4 items of the checklist covered (75\u00a0%)');
  expect(progressWords({ ...progress, of: 'tasks' })).toBe('3 of 4 tasks done (75\u00a0%)');
  expect(progressWords(null)).toBe(null);
});
