import { stringOf } from '../content/blocks';
import { compare } from '../content/diff';
import { changesOf, isEdit, summarize } from '../content/tools/toolSummary';
import { counted, fullTime } from '../lib/format';
import { relativeTo } from '../lib/paths';
import { stripControls } from '../lib/sanitize';
import { callOf, type Row, type ToolRow } from './rows/rows';

/**
 * A conversation as Markdown, to be taken elsewhere: what was said in full, what was done in a
 * line each, what was changed as a diff. Results and thoughts stay here.
 */
export function exportMarkdown(
  title: string,
  rows: readonly Row[],
  workdir: string | null,
): string {
  const parts = rows.flatMap((row) => partsOf(row, workdir));
  return `${[`# ${inOneLine(title)}`, ...parts].join('\n\n')}\n`;
}

function partsOf(row: Row, workdir: string | null): string[] {
  switch (row.kind) {
    case 'prompt': {
      const images = row.images.length > 0 ? [`*${counted(row.images.length, 'image')}*`] : [];
      const words = row.text === '' ? [] : [stripControls(row.text)];
      const time = fullTime(row.message.timestamp);
      return [`**You**${time && `, ${time}`}`, quoted([...words, ...images].join('\n\n'))];
    }
    case 'text':
      return [stripControls(row.text).trim()];
    case 'tool':
      return done([row], workdir);
    case 'tools':
      return done(row.calls, workdir);
    case 'command':
      return [
        ...(row.typed ? [quoted(stripControls(row.typed))] : []),
        ...(row.output ? [fenced(stripControls(row.output))] : []),
      ];
    case 'line':
      return [`*${inOneLine(row.words)}*`];
    case 'branch':
      return [`*${counted(row.messages.length, 'message')} of another branch, left out*`];
    case 'time':
    case 'thinking':
      return [];
    default:
      return row satisfies never;
  }
}

/** Each with what belongs to it below; those that are only a line are one list. */
function done(calls: readonly ToolRow[], workdir: string | null): string[] {
  const parts: string[] = [];
  let list = false;
  for (const call of calls) {
    const line = lineOf(call, workdir);
    const evidence = evidenceOf(call);
    if (list) parts.push(`${parts.pop()}\n${line}`);
    else parts.push(line);
    parts.push(...evidence);
    list = evidence.length === 0;
  }
  return parts;
}

function lineOf(row: ToolRow, workdir: string | null): string {
  const { verb, object, as, outcome, tally } = summarize(callOf(row));
  const named = as === 'path' ? relativeTo(object, workdir) : object;
  const what = named === '' ? '' : ` ${as === 'words' ? inOneLine(named) : code(named)}`;
  const changed = tally ? `+${tally.added} −${tally.removed}` : '';
  const ended = [changed, outcome].filter(Boolean).join(', ');
  return `- ${verb}${what}${ended && `: ${inOneLine(ended)}`}`;
}

/** What its line does not say in full: a command of many lines, a change. */
function evidenceOf(row: ToolRow): string[] {
  const { name, input } = row.use;
  if (isEdit(name)) {
    // what was not wanted, or did not work, changed nothing
    if (row.result === null || row.result.isError) return [];
    return changesOf(row.use).map(({ before, after }) => fenced(diff(before, after), 'diff'));
  }
  const command = name === 'Bash' ? stripControls(stringOf(input.command)) : '';
  return command.includes('\n') ? [fenced(command, 'sh')] : [];
}

const SIGNS = { same: ' ', added: '+', removed: '-' } as const;

function diff(before: string, after: string): string {
  return compare(stripControls(before), stripControls(after))
    .lines.map(({ kind, parts }) => SIGNS[kind] + parts.map(({ text }) => text).join(''))
    .join('\n');
}

/** Whatever stands in it ends with it. */
function quoted(text: string): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n');
}

function fenced(text: string, language = ''): string {
  const fence = '`'.repeat(Math.max(3, ticksIn(text) + 1));
  return `${fence}${language}\n${text}\n${fence}`;
}

function code(text: string): string {
  const line = inOneLine(text);
  const ticks = '`'.repeat(ticksIn(line) + 1);
  // a space keeps those apart that would run together
  const space = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${ticks}${space}${line}${space}${ticks}`;
}

function ticksIn(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map(([found]) => found.length));
}

function inOneLine(text: string): string {
  return stripControls(text).replace(/\s+/g, ' ').trim();
}
