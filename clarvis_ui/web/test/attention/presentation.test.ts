import { describe, expect, test } from 'vitest';
import { type Attention, readAttention, type Suggestion } from '../../src/api/attention';
import {
  ceilingUsageOf,
  editableText,
  editedInput,
  grantWords,
  offeredGrants,
  presentationOf,
  questionsOf,
  subjectOf,
  suggestionWords,
} from '../../src/attention/cards/presentation';
import { findPlan } from '../../src/attention/cards/usePlan';
import { message } from '../support/world';

const WORKDIR = '/code/shop';

function asking(tool: string, input: Attention['input'], more: Partial<Attention> = {}): Attention {
  return {
    id: '1',
    sessionId: 's',
    toolUseId: 't',
    tool,
    input,
    kind: 'permission',
    title: null,
    description: null,
    suggestions: [],
    grants: [],
    blockedPath: null,
    reason: null,
    agentId: null,
    origin: null,
    raised: null,
    ...more,
  };
}

test('a ceiling that is reached, and how much further the item is offered to go', () => {
  const input = { used: { hours: 8.25 }, ceilings: { hours: 8 }, further: { hours: 4 } };
  expect(ceilingUsageOf(input)).toEqual([{ name: 'hours', used: 8.25, most: 8, further: 4 }]);
  expect(ceilingUsageOf({ used: 3, ceilings: { tokens: 5 } })).toEqual([]);
});

describe('what will happen, in words', () => {
  test.each([
    ['Bash', { command: 'ls', description: 'List files' }, 'Run this command?', 'List files'],
    [
      'Edit',
      { file_path: '/code/shop/a/b.ts', old_string: 'x\n', new_string: 'y\nz\n' },
      'Edit a/b.ts?',
      'One change, 2 lines added, 1 removed.',
    ],
    [
      'Write',
      { file_path: '/etc/hosts', content: 'one\ntwo\n' },
      'Write /etc/hosts?',
      'The file will have 2 lines; what it holds now is replaced.',
    ],
    ['Read', { file_path: '/etc/hosts' }, 'Read /etc/hosts?', null],
    [
      'WebFetch',
      { url: 'https://example.com/a', prompt: 'sum up' },
      'Fetch from example.com?',
      'sum up',
    ],
    ['mcp__files__remove', { path: 'x' }, 'Use remove of files?', null],
    ['Newest', {}, 'Use Newest?', null],
    ['AskUserQuestion', { questions: [{ question: 'Which one?' }] }, 'Which one?', null],
    ['AskUserQuestion', { questions: 7 }, 'Answer a question?', null],
    [
      'Ceiling',
      { used: { costUsd: 5.02, turns: 3 }, ceilings: { costUsd: 5, turns: 3 }, further: {} },
      'An item has reached its ceiling',
      'It has used $5.02 of $5.00 and 3 of 3 turns.',
    ],
  ])('%s', (tool, input, title, sentence) => {
    expect(presentationOf(asking(tool, input), WORKDIR)).toMatchObject({ title, sentence });
  });

  test('is told in few words afterwards', () => {
    const question = { questions: [{ question: 'Which one?' }] };
    const attention = asking('AskUserQuestion', question, { kind: 'question' });
    expect(subjectOf(attention, WORKDIR)).toBe('Which one?');
    expect(subjectOf(asking('Read', { file_path: '/a' }), WORKDIR)).toBe('Read /a');
    expect(subjectOf(asking('Bash', { command: 'ls' }), WORKDIR)).toBe('Run ls');
  });

  test('is not said twice', () => {
    const read = asking('Read', { file_path: '/etc/hosts' }, { description: '/etc/hosts' });
    const search = asking('WebSearch', { query: 'cats' }, { description: 'cats' });
    for (const attention of [read, search])
      expect(presentationOf(attention, WORKDIR).sentence).toBeNull();
  });

  test('input of a wrong shape is no reason to fail', () => {
    for (const tool of ['Bash', 'Edit', 'MultiEdit', 'Write', 'WebFetch', 'Agent']) {
      expect(() => presentationOf(asking(tool, { command: 7, edits: 'no' }), null)).not.toThrow();
    }
  });
});

describe('always', () => {
  test.each<[Suggestion, string]>([
    [
      {
        type: 'addRules',
        rules: [{ toolName: 'Bash', ruleContent: 'npm test:*' }],
        behavior: 'allow',
        destination: 'localSettings',
      },
      'Always allow commands that begin with “npm test” in this project, for you',
    ],
    [
      {
        type: 'addRules',
        rules: [{ toolName: 'Bash', ruleContent: 'ls *' }, { toolName: 'WebSearch' }],
        behavior: 'allow',
        destination: 'userSettings',
      },
      'Always allow commands that begin with “ls”, every WebSearch in all your projects',
    ],
    [
      { type: 'addDirectories', directories: ['/code/shop', '/tmp'], destination: 'session' },
      'Always allow access to this directory, /tmp in this session',
    ],
    [
      {
        type: 'addRules',
        rules: [{ toolName: 'Read', ruleContent: '//etc/**' }],
        behavior: 'allow',
        destination: 'session',
      },
      'Always allow reading everything in /etc in this session',
    ],
    [
      { type: 'setMode', mode: 'acceptEdits', destination: 'session' },
      'Allow all edits in this session',
    ],
    [{ type: 'somethingNew' }, 'Always allow somethingNew'],
  ])('%o', (suggestion, words) => {
    expect(suggestionWords(suggestion, WORKDIR)).toBe(words);
  });
});

test('what the session may do already is not offered', () => {
  const directories = (...paths: string[]): Suggestion => ({
    type: 'addDirectories',
    directories: paths,
    destination: 'session',
  });
  const edits: Suggestion = { type: 'setMode', mode: 'acceptEdits', destination: 'session' };
  const grants = [[directories(WORKDIR)], [directories(WORKDIR, '/tmp')], [edits]];
  expect(offeredGrants(asking('Bash', {}, { grants }), WORKDIR)).toEqual([
    [directories(WORKDIR, '/tmp')],
    [edits],
  ]);
});

describe('what belongs together is one answer', () => {
  const rule = (toolName: string, ruleContent: string, destination: string): Suggestion => ({
    type: 'addRules',
    rules: [{ toolName, ruleContent }],
    behavior: 'allow',
    destination,
  });
  const folder: Suggestion = {
    type: 'addDirectories',
    directories: ['/tmp/out'],
    destination: 'session',
  };
  const edits: Suggestion = { type: 'setMode', mode: 'acceptEdits', destination: 'session' };
  test.each([
    [[edits, folder], 'Allow all edits in this session, also in /tmp/out'],
    [
      [rule('Bash', 'touch /tmp/out/a', 'localSettings'), folder],
      'Always allow “touch /tmp/out/a” in this project, for you, and access to /tmp/out in this session',
    ],
    [
      [rule('Bash', 'curl x', 'localSettings'), rule('Bash', 'sh', 'localSettings')],
      'Always allow “curl x”, “sh” in this project, for you',
    ],
    [
      [rule('Read', '//tmp/out/**', 'session'), rule('Bash', 'make', 'localSettings')],
      'Always allow reading everything in /tmp/out in this session, and “make” in this project, for you',
    ],
    [[folder], 'Always allow access to /tmp/out in this session'],
  ])('%o', (grant, words) => {
    expect(grantWords(grant, WORKDIR)).toBe(words);
  });

  test('an older keeper says it of each suggestion by itself', () => {
    const raw = { id: '1', sessionId: 's', suggestions: [edits, folder] };
    expect(readAttention(raw)?.grants).toEqual([[edits], [folder]]);
    expect(readAttention({ ...raw, grants: [[edits, folder]] })?.grants).toEqual([[edits, folder]]);
    expect(readAttention({ ...raw, grants: [[], 5] })?.grants).toEqual([]);
  });
});

describe('another input', () => {
  test('is the one field that people change', () => {
    const attention = asking('Bash', { command: 'rm -r x', timeout: 5 });
    expect(editableText(attention)).toBe('rm -r x');
    expect(editedInput(attention, 'ls')).toEqual({ command: 'ls', timeout: 5 });
  });

  test('or all of it, as long as it is JSON', () => {
    const attention = asking('mcp__files__remove', { path: 'x' });
    expect(editedInput(attention, '{"path": "y"}')).toEqual({ path: 'y' });
    expect(editedInput(attention, 'y')).toBe(null);
    expect(editedInput(attention, '[1]')).toBe(null);
  });
});

test('questions are read as far as they can be', () => {
  const input = {
    questions: [
      { question: 'Which?', header: 'Pick', options: [{ label: 'A' }, {}, 3], multiSelect: true },
      { header: 'no question' },
      null,
    ],
  };
  expect(questionsOf(input)).toEqual([
    {
      question: 'Which?',
      header: 'Pick',
      many: true,
      options: [{ label: 'A', description: null }],
    },
  ]);
});

describe('a plan', () => {
  const call = (name: string, id: string, input: object) =>
    message(id, {
      role: 'assistant',
      kind: 'reply',
      content: [{ type: 'tool_use', id, name, input }],
    });

  test('stands in the call that asks about it', () => {
    const messages = [
      call('ExitPlanMode', 'old', { plan: 'no' }),
      call('ExitPlanMode', 't', { plan: 'yes' }),
    ];
    expect(findPlan(messages, 't')).toBe('yes');
  });

  test('or in the file that was written before', () => {
    const file_path = '/home/me/.claude/plans/calm-fox.md';
    const messages = [
      call('Write', 'w', { file_path, content: '# Plan' }),
      call('ExitPlanMode', 't', {}),
    ];
    expect(findPlan(messages, 't')).toBe('# Plan');
  });

  test('or nowhere', () => {
    expect(findPlan([message('a')], 't')).toBe(null);
  });
});
