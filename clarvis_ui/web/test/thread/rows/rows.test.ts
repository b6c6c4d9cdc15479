import { describe, expect, test } from 'vitest';
import { type Row, reuseRows, rowsOf, shows } from '../../../src/thread/rows/rows';
import { call, lineMessage, message, prompt, reply, result } from '../../support/messages';

const DONE = { running: false, hasOlder: false };

function kinds(rows: readonly Row[]): string[] {
  return rows.map((row) => row.kind);
}

describe('calls and results', () => {
  test('a result is joined to its call and is no line of its own', () => {
    const rows = rowsOf([call('a', 't1', 'Bash'), result('b', 't1', 'out')], DONE);
    expect(rows).toMatchObject([{ kind: 'tool', result: { text: 'out' }, running: false }]);
  });

  test('it may come before its call, or much later', () => {
    const rows = rowsOf(
      [
        result('b', 't1', 'early'),
        call('a', 't1', 'Bash'),
        reply('c', 'x'),
        result('d', 't2'),
        call('e', 't2', 'Bash'),
      ],
      DONE,
    );
    expect(kinds(rows)).toEqual(['tool', 'text', 'tool']);
  });

  test('only calls of the turn that runs are running', () => {
    const messages = [
      prompt('p', 'go'),
      call('a', 't1', 'Bash'),
      prompt('q', 'on'),
      call('b', 't2', 'Bash'),
    ];
    const rows = rowsOf(messages, { running: true, hasOlder: false });
    expect(rows.flatMap((row) => (row.kind === 'tool' ? [row.running] : []))).toEqual([
      false,
      true,
    ]);
  });

  test('a result whose call is on an earlier page waits for it', () => {
    expect(rowsOf([result('b', 't1')], { running: false, hasOlder: true })).toEqual([]);
    expect(rowsOf([result('b', 't1')], DONE)).toMatchObject([{ kind: 'tool' }]);
  });

  test('calls that change a list are the list', () => {
    const made = (n: number, subject: string) => [
      call(`c${n}`, `t${n}`, 'TaskCreate', { subject }),
      result(`r${n}`, `t${n}`, `Task #${n} created successfully: ${subject}`),
    ];
    const moved = (id: string, taskId: string, status: string, bad = false) => [
      call(`c${id}`, `t${id}`, 'TaskUpdate', { taskId, status }),
      result(`r${id}`, `t${id}`, `Updated task #${taskId}`, bad),
    ];
    const rows = rowsOf(
      [
        ...[...made(1, 'read'), ...made(2, 'write'), ...moved('x', '1', 'in_progress')],
        reply('a', 'now'),
        ...[...moved('y', '1', 'completed'), ...moved('z', '2', 'deleted')],
        ...moved('v', '7', 'in_progress'),
        ...moved('w', '1', 'pending', true),
      ],
      DONE,
    );
    expect(kinds(rows)).toEqual(['tools', 'text', 'tools', 'tool']);
    const lists = rows.map((row) => (row.kind === 'tools' ? row.calls.at(-1)?.tasks : null));
    expect(lists[0]).toEqual([
      { words: 'read', status: 'in_progress' },
      { words: 'write', status: 'pending' },
    ]);
    // made before what is loaded: all that is known of it is its number
    expect(lists[2]).toEqual([
      { words: 'read', status: 'completed' },
      { words: '#7', status: 'in_progress' },
    ]);
    // a link to one of the calls leads to the list
    expect(rows[0] && shows(rows[0], 'r2')).toBe(true);
  });

  test('a list that did not change is not drawn again', () => {
    const messages = [
      call('a', 't1', 'TaskCreate', { subject: 'read' }),
      result('b', 't1', 'Task #1 created successfully: read'),
    ];
    const before = rowsOf(messages, DONE);
    const rowsByKey = new Map(before.map((row) => [row.key, row]));
    expect(reuseRows(rowsByKey, rowsOf(messages, DONE))[0]).toBe(before[0]);
  });

  test('many of one kind are one row, unless one failed', () => {
    const read = (n: number, bad = false) => [
      call(`c${n}`, `t${n}`, 'Read', { file_path: `/a/${n}` }),
      result(`r${n}`, `t${n}`, 'x', bad),
    ];
    expect(
      kinds(
        rowsOf(
          [1, 2, 3].flatMap((n) => read(n)),
          DONE,
        ),
      ),
    ).toEqual(['tools']);
    expect(
      kinds(
        rowsOf(
          [1, 2].flatMap((n) => read(n)),
          DONE,
        ),
      ),
    ).toEqual(['tool', 'tool']);
    expect(
      kinds(
        rowsOf(
          [1, 2, 3].flatMap((n) => read(n, n === 2)),
          DONE,
        ),
      ),
    ).toEqual(['tool', 'tool', 'tool']);
  });
});

describe('what is nested', () => {
  test('messages of a subagent are inside of its call', () => {
    const rows = rowsOf(
      [call('a', 't1', 'Task'), reply('n', 'inside', { parentToolUseId: 't1', agentId: 'x' })],
      DONE,
    );
    expect(rows).toMatchObject([{ kind: 'tool', nested: [{ uuid: 'n' }] }]);
  });

  test('an abandoned branch is one folded row', () => {
    const rows = rowsOf(
      [
        prompt('a', '1'),
        prompt('b', '2', { branch: 'x' }),
        reply('c', '3', { branch: 'x' }),
        prompt('d', '4'),
      ],
      DONE,
    );
    expect(kinds(rows)).toEqual(['prompt', 'branch', 'prompt']);
    expect(rows[1] && shows(rows[1], 'c')).toBe(true);
  });
});

describe('quiet lines', () => {
  test('a compaction and its summary are one line', () => {
    const rows = rowsOf(
      [
        lineMessage('a', 'compaction', 'Conversation compacted', 'system'),
        lineMessage('b', 'compaction', 'The summary'),
      ],
      DONE,
    );
    expect(rows).toMatchObject([{ kind: 'line', tone: 'edge', detail: 'The summary' }]);
  });

  test('a command and what it said are one row', () => {
    const rows = rowsOf(
      [
        lineMessage(
          'a',
          'command',
          '<command-name>/cost</command-name><command-args>now</command-args>',
        ),
        lineMessage('b', 'command', '<local-command-stdout>$1</local-command-stdout>'),
      ],
      DONE,
    );
    expect(rows).toMatchObject([{ kind: 'command', typed: '/cost now', output: '$1' }]);
  });

  test('an interruption, an error and a notice', () => {
    const rows = rowsOf(
      [
        lineMessage('a', 'interruption', '[Request interrupted by user]'),
        lineMessage('b', 'error', 'API error: overloaded', 'assistant'),
        lineMessage(
          'c',
          'notice',
          '<task-notification><summary>Task done</summary></task-notification>',
        ),
      ],
      DONE,
    );
    expect(rows).toMatchObject([
      { tone: 'quiet', words: 'Interrupted' },
      { tone: 'bad', words: 'API error: overloaded' },
      { tone: 'quiet', words: 'Task done' },
    ]);
  });

  test('attempts that failed are one quiet line in words', () => {
    const overloaded =
      'API error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}';
    const rows = rowsOf(
      [
        lineMessage('a', 'error', overloaded, 'system'),
        lineMessage('b', 'error', overloaded, 'system'),
        lineMessage('c', 'error', 'API error: FailedToOpenSocket', 'system'),
        lineMessage('d', 'error', `${overloaded} and {`, 'assistant'),
      ],
      DONE,
    );
    expect(rows).toMatchObject([
      { tone: 'quiet', words: 'API error: 529 Overloaded · tried again 2 times' },
      { tone: 'quiet', words: 'API error: FailedToOpenSocket · tried again' },
      { tone: 'bad', words: `${overloaded} and {` },
    ]);
    expect(rows.map((row) => shows(row, 'b'))).toEqual([true, false, false]);
  });

  test('a block that nobody knows is named', () => {
    const rows = rowsOf([message('a', { content: [{ type: 'hologram' }] })], DONE);
    expect(rows).toMatchObject([{ kind: 'line', words: expect.stringContaining('hologram') }]);
  });

  test('after hours a prompt says when it was given', () => {
    const at = (hour: number) => new Date(Date.UTC(2026, 0, 1, hour)).toISOString();
    const rows = rowsOf(
      [
        prompt('a', '1', { timestamp: at(1) }),
        prompt('b', '2', { timestamp: at(2) }),
        prompt('c', '3', { timestamp: at(9) }),
      ],
      DONE,
    );
    expect(kinds(rows)).toEqual(['prompt', 'prompt', 'time', 'prompt']);
  });
});

test('what Claude Code wraps around a prompt is not shown', () => {
  const rows = rowsOf([prompt('a', 'do it<system-reminder>secret</system-reminder>')], DONE);
  expect(rows).toMatchObject([{ text: 'do it' }]);
  expect(rowsOf([prompt('a', '<system-reminder>secret</system-reminder>')], DONE)).toEqual([]);
});

test('rows that did not change stay the same objects', () => {
  const messages = [prompt('a', '1'), reply('b', '2'), call('c', 't', 'Bash')];
  const first = rowsOf(messages, DONE);
  const rowsByKey = new Map(first.map((row) => [row.key, row]));
  const next = reuseRows(rowsByKey, rowsOf([...messages, result('d', 't')], DONE));
  expect(next[0]).toBe(first[0]);
  expect(next[1]).toBe(first[1]);
  expect(next[2]).not.toBe(first[2]);
});
