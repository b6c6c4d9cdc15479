import { HAS_CONTROLS, SEQUENCES } from './ansiEscapes';

/** A command's output as a terminal shows it. Of the escape sequences only colours remain. */

export interface AnsiSpan {
  text: string;
  /** Classes of ansi.css; empty for plain text. */
  className: string;
}

interface Pen {
  fg: number | null;
  bg: number | null;
  marks: ReadonlySet<Mark>;
}

type Mark = 'bold' | 'dim' | 'italic' | 'underline' | 'inverse' | 'strike';

const BLANK: Pen = { fg: null, bg: null, marks: new Set() };

export function spansOf(output: string): AnsiSpan[] {
  if (!HAS_CONTROLS.test(output)) return output ? [{ text: output, className: '' }] : [];
  const text = overwritten(output);
  const spans: AnsiSpan[] = [];
  let pen = BLANK;
  let className = '';
  let from = 0;
  const add = (piece: string) => {
    if (!piece) return;
    const last = spans.at(-1);
    if (last && last.className === className) last.text += piece;
    else spans.push({ text: piece, className });
  };
  for (const match of text.matchAll(SEQUENCES)) {
    add(text.slice(from, match.index));
    from = match.index + match[0].length;
    if (match[1] === undefined) continue;
    pen = changed(pen, match[1]);
    className = classNameOf(pen);
  }
  add(text.slice(from));
  return spans;
}

/** A progress bar overwrites its line: only the last state is shown. */
function overwritten(text: string): string {
  if (!text.includes('\r')) return text;
  return text
    .split('\n')
    .map((line) => {
      const whole = line.replace(/\r+$/, '');
      return whole.slice(whole.lastIndexOf('\r') + 1);
    })
    .join('\n');
}

const MARKS: Readonly<Record<number, Mark>> = {
  1: 'bold',
  2: 'dim',
  3: 'italic',
  4: 'underline',
  7: 'inverse',
  9: 'strike',
};
const UNMARKS: Readonly<Record<number, readonly Mark[]>> = {
  22: ['bold', 'dim'],
  23: ['italic'],
  24: ['underline'],
  27: ['inverse'],
  29: ['strike'],
};

function changed(pen: Pen, parameters: string): Pen {
  const codes = parameters.split(/[;:]/).map(Number);
  let { fg, bg } = pen;
  const marks = new Set(pen.marks);
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    const mark = MARKS[code];
    if (code === 0) {
      fg = null;
      bg = null;
      marks.clear();
    } else if (mark) {
      marks.add(mark);
    } else if (UNMARKS[code]) {
      for (const gone of UNMARKS[code]) marks.delete(gone);
    } else if (code >= 30 && code <= 37) {
      fg = code - 30;
    } else if (code >= 90 && code <= 97) {
      fg = code - 82;
    } else if (code >= 40 && code <= 47) {
      bg = code - 40;
    } else if (code >= 100 && code <= 107) {
      bg = code - 92;
    } else if (code === 39) {
      fg = null;
    } else if (code === 49) {
      bg = null;
    } else if (code === 38 || code === 48) {
      const [colour, used] = wide(codes, at + 1);
      if (code === 38) fg = colour;
      else bg = colour;
      at += used;
    }
  }
  return { fg, bg, marks };
}

/** 256 and true colours become the nearest of the sixteen, which are legible in both palettes. */
function wide(codes: readonly number[], at: number): [colour: number | null, used: number] {
  if (codes[at] === 5) return [ofTable(codes[at + 1] ?? 0), 2];
  if (codes[at] === 2) {
    return [nearest(codes[at + 1] ?? 0, codes[at + 2] ?? 0, codes[at + 3] ?? 0), 4];
  }
  return [null, 0];
}

function ofTable(index: number): number | null {
  if (!(index >= 0 && index <= 255)) return null;
  if (index < 16) return index;
  if (index >= 232) {
    const grey = (index - 232) * 10 + 8;
    return nearest(grey, grey, grey);
  }
  const level = (step: number) => (step === 0 ? 0 : 55 + step * 40);
  const cube = index - 16;
  return nearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

function nearest(red: number, green: number, blue: number): number {
  const most = Math.max(red, green, blue);
  const least = Math.min(red, green, blue);
  if (most - least < 40) return most < 64 ? 0 : most < 160 ? 8 : most < 224 ? 7 : 15;
  const half = (most + least) / 2;
  const hue = (red > half ? 1 : 0) + (green > half ? 2 : 0) + (blue > half ? 4 : 0);
  return hue + (most > 200 ? 8 : 0);
}

function classNameOf({ fg, bg, marks }: Pen): string {
  const looks: string[] = [];
  if (fg !== null) looks.push(`ansi-fg${fg}`);
  if (bg !== null) looks.push(`ansi-bg${bg}`);
  for (const mark of marks) looks.push(`ansi-${mark}`);
  return looks.join(' ');
}
