import { describe, expect, test } from 'vitest';
import { imageAddress, revealInvisible, safeHref, stripControls } from '../../src/lib/sanitize';

describe('text loses what terminals obey', () => {
  test.each([
    ['\x1b[31mred\x1b[0m', 'red'],
    ['\x1b]8;;http://evil.test/\x1b\\link\x1b]8;;\x1b\\', 'link'],
    ['\x1b]0;title\x07rest', 'rest'],
    ['\x1b]52;c;ZXZpbA==\x07rest', 'rest'],
    ['\x1bPq#0;2;0;0;0\x1b\\rest', 'rest'],
    ['\x9b31mred\x9bm', 'red'],
    ['a\x00b\x07c\x08d', 'abcd'],
    ['one\r\ntwo\rthree\tfour', 'one\ntwo\nthree\tfour'],
    ['an open \x1b]8;;http://evil.test\nnext line', 'an open \nnext line'],
    ['\x1b', ''],
  ])('%j', (text, expected) => {
    expect(stripControls(text)).toBe(expected);
  });
});

test('what cannot be seen is spelled out where people decide by it', () => {
  expect(revealInvisible('rm \u202etxt.exe')).toBe('rm ⟨U+202E⟩txt.exe');
  expect(revealInvisible('a\u200bb\x1b[2Kc')).toBe('a⟨U+200B⟩b⟨U+001B⟩[2Kc');
  expect(revealInvisible('echo hi\r rm -rf /')).toBe('echo hi⟨U+000D⟩ rm -rf /');
  expect(revealInvisible('two\nlines\tof שלום')).toBe('two\nlines\tof שלום');
});

describe('addresses', () => {
  test.each(['http://a.test/x', 'https://a.test/', 'mailto:me@a.test', ' HTTPS://a.test/ '])(
    '%s may be a link',
    (address) => expect(safeHref(address)).not.toBeNull(),
  );
  test.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java\nscript:alert(1)',
    '\x01javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:http://a.test/x',
    '//evil.test/x',
    '/api/logout',
    '#session=x',
    'src/login.py',
    '',
  ])('%j stays text', (address) => expect(safeHref(address)).toBeNull());
});

describe('images', () => {
  test('of the transcript itself are shown', () => {
    expect(imageAddress('image/png', 'iVBORw0KGgo=')).toBe('data:image/png;base64,iVBORw0KGgo=');
  });
  test.each([
    ['image/svg+xml', 'PHN2Zz4='],
    ['text/html', 'PHN2Zz4='],
    ['image/png;x', 'iVBORw0KGgo='],
    ['image/png', 'http://evil.test/a.png'],
    ['image/png', '"><script>'],
    [null, 'iVBORw0KGgo='],
    ['image/png', 12],
  ])('%j with %j is not', (kind, data) => expect(imageAddress(kind, data)).toBeNull());
});
