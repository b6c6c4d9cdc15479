import { describe, expect, test } from 'vitest';
import { compare, parsePatch, withGaps } from '../../src/content/diff';

function diffLines(before: string, after: string): string[] {
  const signs = { same: ' ', added: '+', removed: '-' };
  return compare(before, after).lines.map(
    (line) =>
      signs[line.kind] +
      line.parts.map((part) => (part.changed ? `[${part.text}]` : part.text)).join(''),
  );
}

test('words that differ are marked inside of lines that stand for each other', () => {
  expect(diffLines('a\nlet x = one(1)\nb', 'a\nlet x = two(1)\nb')).toEqual([
    ' a',
    '-let x = [one](1)',
    '+let x = [two](1)',
    ' b',
  ]);
});

test('lines with nothing in common are two lines', () => {
  expect(diffLines('alpha beta gamma\n', '1234567890 9876\n')).toEqual([
    '-alpha beta gamma',
    '+1234567890 9876',
  ]);
});

test('lines are counted', () => {
  const { added, removed } = compare('a\nb\n', 'a\nc\nd\n');
  expect({ added, removed }).toEqual({ added: 2, removed: 1 });
});

test('a new file is all new, and a missing newline at the end is no change', () => {
  expect(diffLines('', 'a\nb')).toEqual(['+a', '+b']);
  expect(diffLines('a\nb', 'a\nb\n')).toEqual([' a', ' b']);
});

test('long stretches that stay the same are put aside', () => {
  const same = Array.from({ length: 20 }, (_, at) => `line ${at}`).join('\n');
  const visible = withGaps(compare(`${same}\nold\n`, `${same}\nnew\n`).lines);
  expect(visible[0]).toMatchObject({ kind: 'gap' });
  expect(visible[0]?.kind === 'gap' && visible[0].lines.length).toBe(17);
  expect(visible).toHaveLength(1 + 3 + 2);
});

describe('a patch', () => {
  const patch = [
    'diff --git a/one.py b/one.py',
    'index 1..2 100644',
    '--- a/one.py',
    '+++ b/one.py',
    '@@ -1,2 +1,2 @@ def f():',
    ' same',
    '--- looks like a header',
    '+new',
    'diff --git a/two.py b/two.py',
    'new file mode 100644',
    '--- /dev/null',
    '+++ b/two.py',
    '@@ -0,0 +1 @@',
    '+fresh',
    '',
  ].join('\n');

  test('is read file by file', () => {
    expect(parsePatch(patch)?.map(({ path, added, removed }) => [path, added, removed])).toEqual([
      ['one.py', 1, 1],
      ['two.py', 1, 0],
    ]);
  });

  test('is not seen in other output', () => {
    expect(parsePatch('--- a list ---\n- one\n+ two')).toBeNull();
    expect(parsePatch('')).toBeNull();
  });
});
