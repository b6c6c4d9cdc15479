import { describe, expect, test } from 'vitest';
import { blocksOf, type Fields } from '../../../src/content/blocks';
import {
  summarize,
  summarizePending,
  summarizeUnanswered,
  type ToolCall,
} from '../../../src/content/tools/toolSummary';

function summaryOf(
  name: string,
  input: Fields,
  output: unknown = 'ok',
  isError = false,
  more: Partial<ToolCall> = {},
): string {
  const [result] = blocksOf([
    { type: 'tool_result', tool_use_id: 't', content: output, is_error: isError },
  ]);
  const call: ToolCall = {
    id: 't',
    name,
    input,
    result: result?.type === 'tool_result' ? result : null,
    deniedBy: null,
    running: false,
    ...more,
  };
  const { verb, object, outcome, tally } = summarize(call);
  const counts = tally ? `+${tally.added} −${tally.removed}` : outcome;
  return [verb, object, counts].filter(Boolean).join(' | ');
}

describe('a call in a line', () => {
  test.each([
    [
      summaryOf('Edit', { file_path: 'login.py', old_string: 'a\nb', new_string: 'a\nc\nd\ne' }),
      'Edited | login.py | +3 −1',
    ],
    [
      summaryOf('MultiEdit', {
        file_path: 'a.py',
        edits: [
          { old_string: 'a', new_string: 'b' },
          { old_string: 'c', new_string: 'd' },
        ],
      }),
      'Edited | a.py | +2 −2',
    ],
    [summaryOf('Write', { file_path: 'a.py', content: '1\n2\n' }), 'Wrote | a.py | +2 −0'],
    [summaryOf('Read', { file_path: 'a.py' }, '1\ta\n2\tb'), 'Read | a.py | 2 lines'],
    [
      summaryOf('Bash', { command: 'npm test' }, 'Exit code 1\nboom', true),
      'Ran | npm test | failed · exit 1',
    ],
    [
      summaryOf('Bash', { command: 'pytest' }, '== 2 failed, 41 passed in 2 s =='),
      'Ran | pytest | 2 failed, 41 passed',
    ],
    [summaryOf('Bash', { command: 'cd /a/b && ls' }, ''), 'Ran | ls | no output'],
    [
      summaryOf('Bash', { command: 'touch a' }, '(Bash completed with no output)'),
      'Ran | touch a | no output',
    ],
    [summaryOf('Grep', { pattern: 'x' }, 'No files found'), 'Searched | x | no files'],
    [summaryOf('Grep', { pattern: 'x' }, 'Found 3 files\na\nb\nc'), 'Searched | x | 3 files'],
    [
      summaryOf('TodoWrite', { todos: [{ status: 'completed' }, { status: 'pending' }] }),
      'Updated the list | 1 of 2 done',
    ],
    [
      summaryOf('TodoWrite', { todos: [{ content: 'test it', status: 'in_progress' }] }),
      'Updated the list | test it | 0 of 1 done',
    ],
    [summaryOf('Agent', { description: 'Look around' }), 'Agent | Look around | done'],
    [
      summaryOf('Agent', { description: 'Look around', run_in_background: true }),
      'Agent | Look around | in the background',
    ],
    [
      summaryOf('mcp__context7__query-docs', { query: 'hooks' }, 'one'),
      'context7 · query-docs | hooks | 1 line',
    ],
    [
      summaryOf(
        'Edit',
        { file_path: 'a' },
        "The user doesn't want to proceed with this tool use.",
        true,
      ),
      'Wanted to edit | a | denied',
    ],
    [
      summaryOf(
        'Bash',
        { command: './evil' },
        "The user doesn't want to proceed with this tool use.",
      ),
      'Ran | ./evil | 1 line',
    ],
    [
      summaryOf('Bash', { command: 'rm x' }, 'not that one', true, { deniedBy: 'person' }),
      'Wanted to run | rm x | denied',
    ],
    [
      summaryOf('Bash', { command: 'rm x' }, 'Permission denied', true, { deniedBy: 'rule' }),
      'Wanted to run | rm x | not allowed',
    ],
    [
      summaryOf('ExitPlanMode', { plan: 'x' }, 'test it too', true, { deniedBy: 'person' }),
      'Proposed a plan | sent back',
    ],
    [
      summaryOf('TaskUpdate', { taskId: '2', status: 'in_progress' }, 'ok', false, {
        task: 'Test it',
      }),
      'Updated a task | Test it | in progress',
    ],
    [
      summaryOf('TaskUpdate', { taskId: '2', status: 'completed' }),
      'Updated a task | #2 | completed',
    ],
    [summaryOf('Unheard', {}, ''), 'Unheard | no output'],
  ])('%s', (line, expected) => expect(line).toBe(expected));

  test('says that it runs, or that nothing came of it', () => {
    const call: ToolCall = {
      id: 't',
      name: 'Bash',
      input: { command: 'ls' },
      result: null,
      deniedBy: null,
      running: true,
    };
    expect(summarize(call)).toMatchObject({ verb: 'Running', tone: 'running' });
    // whether it began is not known
    const cutOff = { ...call, running: false };
    expect(summarize(cutOff)).toMatchObject({ verb: 'Wanted to run', outcome: 'no result' });
    expect(summarizeUnanswered(cutOff)).toMatchObject({
      verb: 'Wanted to run',
      outcome: 'not answered',
    });
    expect(summarizePending(call)).toMatchObject({
      verb: 'Wants to run',
      outcome: 'waits for you',
    });
    expect(summarizePending({ ...call, name: 'AskUserQuestion' })).toMatchObject({
      verb: 'Asking',
    });
  });

  test('nonsense in its input costs only the words', () => {
    expect(summaryOf('Edit', { file_path: 12, old_string: null, new_string: [] })).toBe(
      'Edited | +0 −0',
    );
    expect(summaryOf('MultiEdit', { edits: 'x' })).toBe('Edited | +0 −0');
    expect(summaryOf('TodoWrite', { todos: 'x' })).toBe('Updated the list | 0 of 0 done');
  });
});
