import { blocksOf, prettyJson } from '../../content/blocks';
import { summarize, summarizeTasks } from '../../content/tools/toolSummary';
import type { VisibleMessage } from '../../conversation/conversation';
import type { ExpandState } from '../../lib/expanded';
import { callOf, type Row, type ToolRow } from '../rows/rows';
import { callsIn, EARLIER, ownRows, SHOWN_AT_FIRST } from '../rows/subagents';

/** Finding words in the conversation, whether they are in sight, folded away or not even drawn. */

/** Messages of subagents that are not part of the rows, by the ids of their calls. */
export type SubagentTexts = ReadonlyMap<string, readonly VisibleMessage[]>;

const NOBODY: SubagentTexts = new Map();

export interface FindHit {
  key: string;
  /** Which of the row's places it is; a row that unfolds counts once. */
  nth: number;
}

interface Searched {
  /** What the row shows by itself. */
  visible: string;
  /** What is behind it. */
  folded: string;
}

const searched = new WeakMap<Row, Searched>();

function searchedOf(row: Row): Searched {
  let text = searched.get(row);
  if (!text) {
    const { visible, folded } = read(row);
    text = { visible: visible.toLowerCase(), folded: folded.toLowerCase() };
    searched.set(row, text);
  }
  return text;
}

function read(row: Row): Searched {
  switch (row.kind) {
    case 'prompt':
      return { visible: row.text, folded: '' };
    case 'text':
      return { visible: withoutMarks(row.text), folded: '' };
    case 'thinking':
      return { visible: '', folded: withoutMarks(row.text) };
    case 'tool':
      return toolText(row);
    case 'tools': {
      const tasks = row.calls.at(-1)?.tasks ?? [];
      if (tasks.length > 0) {
        const { verb, object, outcome } = summarizeTasks(tasks);
        const folded = tasks.map(({ words }) => words).join('\n');
        return { visible: `${verb} ${object} ${outcome}`, folded };
      }
      const inside = row.calls.map(toolText);
      return {
        visible: '',
        folded: inside.map((call) => `${call.visible}\n${call.folded}`).join('\n'),
      };
    }
    case 'command':
      return { visible: row.typed ?? '', folded: row.output ?? '' };
    case 'line':
      return { visible: row.words, folded: row.detail ?? '' };
    case 'branch':
      return { visible: '', folded: messagesText(row.messages) };
    case 'time':
      return { visible: '', folded: '' };
    default:
      return row satisfies never;
  }
}

function toolText(row: ToolRow): Searched {
  const { verb, object, outcome } = summarize(callOf(row));
  return {
    visible: `${verb} ${object} ${outcome}`,
    folded: [valuesOf(row.use.input), row.result?.text ?? '', messagesText(row.nested)].join('\n'),
  };
}

function valuesOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'object' && value !== null) {
    return Object.values(value).map(valuesOf).join('\n');
  }
  return String(value ?? '');
}

const texts = new WeakMap<readonly VisibleMessage[], string>();

/** The words of messages, in small letters. */
export function messagesTextOf(messages: readonly VisibleMessage[] | undefined): string {
  if (!messages) return '';
  let text = texts.get(messages);
  if (text === undefined) {
    text = messagesText(messages).toLowerCase();
    texts.set(messages, text);
  }
  return text;
}

function messagesText(messages: readonly VisibleMessage[]): string {
  return messages
    .flatMap((message) => blocksOf(message.content))
    .map((block) => {
      switch (block.type) {
        case 'text':
        case 'thinking':
        case 'tool_result':
          return block.text;
        case 'tool_use':
          return valuesOf(block.input);
        case 'unknown':
          return prettyJson(block.raw);
        default:
          return '';
      }
    })
    .join('\n');
}

/** The text of markdown as it is rendered, as far as the search needs it. */
function withoutMarks(text: string): string {
  return text
    .replace(/!?\[([^\]\n]*)\]\([^)\n]*\)/g, '$1')
    .replace(/(\*\*|__|~~|`+)/g, '')
    .replace(/^\s{0,3}(?:#{1,6}|>)\s+/gm, '');
}

export function hitsIn(
  rows: readonly Row[],
  query: string,
  subagentTexts: SubagentTexts = NOBODY,
): FindHit[] {
  const words = query.toLowerCase();
  if (words.trim() === '') return [];
  const hits: FindHit[] = [];
  for (const row of rows) {
    const { visible, folded } = searchedOf(row);
    const hitCount = row.kind === 'text' || row.kind === 'prompt' ? hitCountIn(visible, words) : 0;
    for (let nth = 0; nth < hitCount; nth += 1) hits.push({ key: row.key, nth });
    const has =
      visible.includes(words) || folded.includes(words) || isInSubagent(row, words, subagentTexts);
    if (hitCount === 0 && has) hits.push({ key: row.key, nth: 0 });
  }
  return hits;
}

function isInSubagent(row: Row, words: string, subagentTexts: SubagentTexts): boolean {
  return callsIn(row).some(({ use }) => messagesTextOf(subagentTexts.get(use.id)).includes(words));
}

/** The hit that is nearest to a row; at the end, the last one. */
export function nearestOf(
  hits: readonly FindHit[],
  rows: readonly Row[],
  from: string | null,
): FindHit | undefined {
  if (from === null) return hits.at(-1);
  const indexes = new Map(rows.map((row, at) => [row.key, at]));
  const here = indexes.get(from) ?? rows.length;
  const away = ({ key }: FindHit) => Math.abs((indexes.get(key) ?? 0) - here);
  return hits.reduce<FindHit | undefined>(
    (nearest, hit) => (nearest && away(nearest) <= away(hit) ? nearest : hit),
    undefined,
  );
}

function hitCountIn(text: string, words: string): number {
  let count = 0;
  for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + words.length)) {
    count += 1;
  }
  return count;
}

/** Opens what hides the words, down to the row that has them. */
export function expandFor(
  row: Row,
  query: string,
  folds: ExpandState,
  subagentTexts: SubagentTexts = NOBODY,
): void {
  const words = query.toLowerCase();
  if (row.kind === 'prompt') {
    folds.signalOf(`${row.key}/words`).value = true;
    return;
  }
  const { visible, folded } = searchedOf(row);
  if (visible.includes(words)) return;
  if (!folded.includes(words) && !isInSubagent(row, words, subagentTexts)) return;
  folds.signalOf(row.key).value = true;
  if (row.kind === 'tools')
    for (const call of row.calls) expandFor(call, query, folds, subagentTexts);
  if (row.kind === 'tool') unfoldAgentFor(row, query, folds, subagentTexts);
}

/** Also inside a subagent's conversation, including the rows hidden at first. */
function unfoldAgentFor(
  row: ToolRow,
  query: string,
  folds: ExpandState,
  subagentTexts: SubagentTexts,
): void {
  const messages = row.nested.length > 0 ? row.nested : subagentTexts.get(row.use.id);
  if (!messages || !messagesTextOf(messages).includes(query.toLowerCase())) return;
  const rows = ownRows(messages, row.running);
  const having = new Set(hitsIn(rows, query).map(({ key }) => key));
  const first = rows.findIndex(({ key }) => having.has(key));
  if (first >= 0 && first < rows.length - SHOWN_AT_FIRST) {
    folds.signalOf(`${row.key}/${EARLIER}`).value = true;
  }
  for (const inner of rows) if (having.has(inner.key)) expandFor(inner, query, folds);
}

/** Every place of the words below an element, for the browser to mark. */
export function rangesIn(root: Node, query: string): Range[] {
  const words = query.toLowerCase();
  const ranges: Range[] = [];
  if (words.trim() === '') return ranges;
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = (node.nodeValue ?? '').toLowerCase();
    for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + words.length)) {
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, Math.min(at + words.length, node.nodeValue?.length ?? 0));
      ranges.push(range);
    }
  }
  return ranges;
}
