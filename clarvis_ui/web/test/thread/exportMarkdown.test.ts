import { expect, test } from 'vitest';
import type { VisibleMessage } from '../../src/conversation/visibleMessages';
import { exportMarkdown } from '../../src/thread/exportMarkdown';
import { rowsOf } from '../../src/thread/rows/rows';
import { call, prompt, reply, result } from '../support/messages';

function asMarkdown(...messages: VisibleMessage[]): string {
  return exportMarkdown(
    'Fix\nthe login',
    rowsOf(messages, { running: false, hasOlder: false }),
    '/code',
  );
}

test('what was said stands there in full, the title as a heading', () => {
  const text = asMarkdown(prompt('a', 'fix it\n\n# now'), reply('b', '**Fixed**.'));
  expect(text).toMatch(/^# Fix the login\n\n\*\*You\*\*/);
  expect(text).toContain('\n\n> fix it\n>\n> # now\n\n**Fixed**.\n');
});

test('what was done is a line, a command of many lines stands below it', () => {
  const text = asMarkdown(
    call('a', 't1', 'Bash', { command: 'npm test' }),
    result('b', 't1', '3 passed'),
    reply('c', 'Now both.'),
    call('d', 't2', 'Bash', { command: 'cd a\necho ```' }),
    result('e', 't2', 'secret output'),
  );
  expect(text).toContain('- Ran `npm test`: 3 passed\n');
  expect(text).toContain('````sh\ncd a\necho ```\n````');
  expect(text).not.toContain('secret output');
});

test('what was changed is a diff, and what failed is none', () => {
  const edit = { file_path: '/code/a.py', old_string: 'one\ntwo', new_string: 'one\nthree' };
  const text = asMarkdown(
    call('a', 't1', 'Edit', edit),
    result('b', 't1', 'updated'),
    call('c', 't2', 'Edit', { ...edit, new_string: 'four' }),
    result('d', 't2', 'no such text', true),
    ...[3, 4, 5, 6].flatMap((n) => [
      call(`c${n}`, `t${n}`, 'Edit', { ...edit, file_path: `/code/${n}.py` }),
      result(`r${n}`, `t${n}`, 'updated'),
    ]),
  );
  const diff = '```diff\n one\n-two\n+three\n```';
  expect(text).toContain(diff);
  expect(text).not.toContain('four');
  // also where many are one row of the page, each stands with its file
  expect(text).toContain(`\n\n- Edited \`5.py\`: +1 −1\n\n${diff}\n\n- Edited \`6.py`);
});

test('what terminals would obey is taken away', () => {
  expect(asMarkdown(prompt('a', 'red \u001b[31malert\u001b[0m'))).toContain('> red alert\n');
});
