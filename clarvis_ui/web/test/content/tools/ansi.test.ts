import { expect, test } from 'vitest';
import { spansOf } from '../../../src/content/tools/ansi';

test('plain output is one plain piece', () => {
  expect(spansOf('a <b>\nc')).toEqual([{ text: 'a <b>\nc', className: '' }]);
  expect(spansOf('')).toEqual([]);
});

test('colours and marks become looks, and end where they end', () => {
  expect(spansOf('\x1b[1;32mok\x1b[22m yes\x1b[39m plain')).toEqual([
    { text: 'ok', className: 'ansi-fg2 ansi-bold' },
    { text: ' yes', className: 'ansi-fg2' },
    { text: ' plain', className: '' },
  ]);
});

test('bright, wide and true colours are one of the sixteen', () => {
  const looks = ['\x1b[91mx', '\x1b[38;5;196mx', '\x1b[38;2;255;0;0mx', '\x1b[48:5:21mx'].map(
    (text) => spansOf(text)[0]?.className,
  );
  expect(looks).toEqual(['ansi-fg9', 'ansi-fg9', 'ansi-fg9', 'ansi-bg12']);
});

test('everything else that a terminal would obey is gone', () => {
  const hostile =
    '\x1b[2J\x1b[1;1Ha\x1b]8;;http://evil.test/\x1b\\link\x1b]8;;\x07\x1b]0;t\x07\x1bPq\x1b\\\x07\x1b(B!';
  expect(spansOf(hostile)).toEqual([{ text: 'alink!', className: '' }]);
});

test('an open sequence hides no more than its line', () => {
  expect(spansOf('a\x1b]8;;http://evil.test\nb')).toEqual([{ text: 'a\nb', className: '' }]);
});

test('of a line that is written again and again the last writing stands', () => {
  expect(spansOf('10 %\r50 %\r100 %\r\ndone')).toEqual([{ text: '100 %\ndone', className: '' }]);
});

test('nonsense in a colour is no colour', () => {
  expect(spansOf('\x1b[38;5;999mx')[0]).toEqual({ text: 'x', className: '' });
  expect(spansOf('\x1b[38mx')[0]).toEqual({ text: 'x', className: '' });
  expect(spansOf('\x1b[;;;mx')[0]).toEqual({ text: 'x', className: '' });
});
