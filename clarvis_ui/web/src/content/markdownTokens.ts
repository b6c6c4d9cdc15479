import { Lexer, type MarkedToken, type Token, type Tokens } from 'marked';

/** Markdown → tokens. The page renders tokens and never HTML, so nothing has to be sanitized. */

/** Longer texts are data rather than markdown. They are shown unparsed. */
export const MAX_MARKDOWN = 400_000;
const DEEPEST = 60;

export function lex(text: string): Token[] {
  if (text.length > MAX_MARKDOWN) return [asWritten(text)];
  try {
    const tokens = new Lexer({ gfm: true, breaks: false }).lex(text);
    return isDeeper(tokens, DEEPEST) ? [asWritten(text)] : tokens;
  } catch {
    return [asWritten(text)]; // nested too deeply for the parser's stack
  }
}

function isDeeper(tokens: readonly Token[], depth: number): boolean {
  if (depth < 0) return true;
  return tokens.some((token) => {
    const inside: readonly Token[] =
      token.type === 'list'
        ? (token as Tokens.List).items
        : ((token as Tokens.Generic).tokens ?? []);
    return inside.length > 0 && isDeeper(inside, depth - 1);
  });
}

function asWritten(text: string): MarkedToken {
  return { type: 'code', raw: text, text, lang: '' };
}

/**
 * Markdown that grows: only the last blocks are read again, since nothing can change the ones
 * before them. Two are kept open, because a list or a table may still take in what follows a gap.
 */
export class GrowingMarkdown {
  private text = '';
  private settled: Token[] = [];
  private settledLength = 0;

  grow(text: string): Token[] {
    if (!text.startsWith(this.text)) {
      this.settled = [];
      this.settledLength = 0;
    }
    this.text = text;
    const open = lex(text.slice(this.settledLength));
    const keep = lastBlocks(open, 2);
    const done = open.slice(0, keep);
    this.settled.push(...done);
    this.settledLength += done.reduce((sum, token) => sum + token.raw.length, 0);
    return [...this.settled, ...open.slice(keep)];
  }
}

/** The index from which the last few blocks begin; gaps between blocks do not count. */
function lastBlocks(tokens: readonly Token[], amount: number): number {
  let remaining = amount;
  for (let at = tokens.length - 1; at >= 0; at -= 1) {
    if (tokens[at]?.type !== 'space') remaining -= 1;
    if (remaining === 0) return at;
  }
  return 0;
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  copy: '©',
  reg: '®',
  trade: '™',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  larr: '←',
  rarr: '→',
  times: '×',
  middot: '·',
  bull: '•',
};

/** `&lt;` and its like, which a browser would have read if this were HTML. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]+));/gi, (all, dec, hex, name) => {
    if (name) return ENTITIES[name.toLowerCase()] ?? all;
    const code = dec ? Number(dec) : Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
  });
}
