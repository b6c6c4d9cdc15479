import { diffLines, diffWordsWithSpace } from 'diff';

/** The difference between two texts: by lines, and inside changed lines by words. */

export interface DiffPart {
  text: string;
  /** Whether this very word changed. */
  changed: boolean;
}

export interface DiffLine {
  kind: 'same' | 'added' | 'removed';
  parts: readonly DiffPart[];
}

/** Unchanged lines between two changes, collapsed. */
export interface DiffGap {
  kind: 'gap';
  lines: readonly DiffLine[];
}

export interface TextComparison {
  lines: readonly DiffLine[];
  added: number;
  removed: number;
}

const CONTEXT = 3;
/** Above these, computing the smallest difference would block the page. */
const PATIENCE_MS = 150;
const MAX_LINE = 500;
/** Lines that share less than this count as removed and added, not as changed. */
const ALIKE = 0.4;

export function compare(before: string, after: string): TextComparison {
  const changes =
    before === ''
      ? [{ added: true, removed: false, value: after }]
      : (diffLines(ended(before), ended(after), { timeout: PATIENCE_MS }) ?? [
          { added: false, removed: true, value: before },
          { added: true, removed: false, value: after },
        ]);
  const lines: DiffLine[] = [];
  let added = 0;
  let removed = 0;
  for (let at = 0; at < changes.length; at += 1) {
    const change = changes[at];
    if (!change) continue;
    const here = linesOf(change.value);
    const next = changes[at + 1];
    if (change.removed && next?.added) {
      const replacement = linesOf(next.value);
      lines.push(...replaced(here, replacement));
      removed += here.length;
      added += replacement.length;
      at += 1;
    } else if (change.removed) {
      lines.push(...here.map((text) => whole('removed', text)));
      removed += here.length;
    } else if (change.added) {
      lines.push(...here.map((text) => whole('added', text)));
      added += here.length;
    } else {
      lines.push(...here.map((text) => whole('same', text)));
    }
  }
  return { lines, added, removed };
}

/** A last line with and without its newline is the same line. */
function ended(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function whole(kind: DiffLine['kind'], text: string): DiffLine {
  return { kind, parts: [{ text, changed: false }] };
}

/** Old lines, then new ones. In lines that replace each other, the changed words are marked. */
function replaced(before: readonly string[], after: readonly string[]): DiffLine[] {
  const removed: DiffLine[] = before.map((text) => whole('removed', text));
  const added: DiffLine[] = after.map((text) => whole('added', text));
  for (let at = 0; at < Math.min(before.length, after.length); at += 1) {
    const pair = byWords(before[at] ?? '', after[at] ?? '');
    if (!pair) continue;
    removed[at] = { kind: 'removed', parts: pair[0] };
    added[at] = { kind: 'added', parts: pair[1] };
  }
  return [...removed, ...added];
}

function byWords(before: string, after: string): [DiffPart[], DiffPart[]] | null {
  if (before.length > MAX_LINE || after.length > MAX_LINE) return null;
  const old: DiffPart[] = [];
  const fresh: DiffPart[] = [];
  let shared = 0;
  for (const change of diffWordsWithSpace(before, after)) {
    if (change.added) fresh.push({ text: change.value, changed: true });
    else if (change.removed) old.push({ text: change.value, changed: true });
    else {
      old.push({ text: change.value, changed: false });
      fresh.push({ text: change.value, changed: false });
      shared += change.value.trim().length;
    }
  }
  const longer = Math.max(before.trim().length, after.trim().length);
  return longer > 0 && shared / longer >= ALIKE ? [old, fresh] : null;
}

/** The lines, with long unchanged runs collapsed. */
export function withGaps(lines: readonly DiffLine[]): readonly (DiffLine | DiffGap)[] {
  const near = new Uint8Array(lines.length);
  lines.forEach((line, at) => {
    if (line.kind !== 'same') near.fill(1, Math.max(0, at - CONTEXT), at + CONTEXT + 1);
  });
  const visible: (DiffLine | DiffGap)[] = [];
  for (let at = 0; at < lines.length; ) {
    let end = at;
    while (end < lines.length && !near[end]) end += 1;
    const aside = lines.slice(at, end);
    // a gap of one line would take as much room as the line
    if (aside.length > 1) visible.push({ kind: 'gap', lines: aside });
    else visible.push(...aside);
    const line = lines[end];
    if (line) visible.push(line);
    at = end + 1;
  }
  return visible;
}

export interface FileChange {
  path: string;
  lines: readonly DiffLine[];
  added: number;
  removed: number;
}

/** A `git diff`, file by file; null if the text is none. */
export function parsePatch(text: string): FileChange[] | null {
  if (!/^(?:diff --git |--- .+\n\+\+\+ )/m.test(text.slice(0, 2000))) return null;
  if (!/^@@ /m.test(text)) return null;
  const files: { path: string; lines: DiffLine[]; added: number; removed: number }[] = [];
  let file = files[0];
  let inside = false;
  for (const text_ of text.split('\n')) {
    const begins = /^diff --git a\/(.*?) b\//.exec(text_);
    if (begins) {
      file = { path: begins[1] ?? '', lines: [], added: 0, removed: 0 };
      files.push(file);
      inside = false;
      continue;
    }
    if (!inside && text_.startsWith('--- ')) {
      const path = text_.slice(4).replace(/^a\//, '').replace(/\t.*$/, '');
      if (!file || file.lines.length > 0) {
        file = { path, lines: [], added: 0, removed: 0 };
        files.push(file);
      }
      continue;
    }
    if (!inside && text_.startsWith('+++ ')) {
      const path = text_.slice(4).replace(/^b\//, '').replace(/\t.*$/, '');
      if (file && path !== '/dev/null') file.path = path;
      continue;
    }
    if (!file) return null; // words before the first file: no plain patch
    if (text_.startsWith('@@ ')) {
      inside = true;
      file.lines.push(whole('same', text_));
    } else if (inside && text_.startsWith('+')) {
      file.added += 1;
      file.lines.push(whole('added', text_.slice(1)));
    } else if (inside && text_.startsWith('-')) {
      file.removed += 1;
      file.lines.push(whole('removed', text_.slice(1)));
    } else if (inside && text_ !== '') {
      file.lines.push(whole('same', text_.replace(/^ /, '')));
    }
  }
  return files.length > 0 ? files : null;
}
