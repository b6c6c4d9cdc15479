import type { Decision } from '../api/resume';
import type { Hit } from '../api/search';
import { revealInvisible } from '../lib/sanitize';

/** Of earlier decisions so much is put before Claude, in tokens; three bytes are reckoned one. */
export const MAX_TOKENS = 1000;
const BYTES_A_TOKEN = 3;
// one decision may not take all of it
const MAX_CHARACTERS = 400;

/** Something that was decided earlier, as it is quoted. */
export interface Quote {
  text: string;
  /** The title of another session in which it was; null for this one. */
  elsewhere: string | null;
}

export interface Quotation {
  quotes: readonly Quote[];
  /** The lines that are put before the person's own words. */
  text: string;
  tokens: number;
  /** How many were found and do not fit. */
  omitted: number;
}

const SMALL = new Set(
  'the our this that and for with about its his her their how what was were from into using use der die das den dem und für les des une sur pour los las una por para'.split(
    ' ',
  ),
);

/** The words by which decisions about something are found. */
export function keyWords(about: string): string[] {
  const words = about.toLowerCase().match(/[\p{L}\p{N}_.-]+/gu) ?? [];
  const keys = words.filter((word) => word.length > 2 && !SMALL.has(word));
  return keys.length > 0 ? keys : words;
}

/** Those of a session that have the words in them, however they are inflected; the newest last. */
export function decisionsAbout(decisions: readonly Decision[], about: string): Decision[] {
  const stems = keyWords(about).map(stem);
  return decisions.filter((one) => {
    const text = `${one.about} ${one.decision} ${one.reason ?? ''}`.toLowerCase();
    return stems.every((each) => text.includes(each));
  });
}

/** "databases" → "databas": what an ending leaves. */
function stem(word: string): string {
  return word.length > 5 ? word.slice(0, Math.max(5, word.length - 2)) : word;
}

/** The session's own decisions, the newest first because not all may fit, then the search hits. */
export function quotesOf(
  sessionId: string,
  decisions: readonly Decision[],
  all: readonly Decision[],
  hits: readonly Hit[],
): Quote[] {
  const own = decisions.map((one): Quote => ({ text: sentence(one), elsewhere: null })).reverse();
  const quotedUuids = new Set(decisions.map(({ uuid }) => uuid ?? null));
  for (const hit of hits) {
    if (!hit.decision) continue;
    const here = hit.sessionId === sessionId;
    if (here && quotedUuids.has(hit.uuid)) continue;
    const whole = here ? all.find(({ uuid }) => uuid === hit.uuid) : undefined;
    const text = whole ? sentence(whole) : answered(hit.snippet.map(({ text }) => text).join(''));
    if (here) quotedUuids.add(hit.uuid);
    own.push({ text, elsewhere: here ? null : (hit.title ?? 'another session') });
  }
  return own.filter(({ text }, at) => text !== '' && own.findIndex((o) => o.text === text) === at);
}

function sentence({ about, decision, reason, at }: Decision): string {
  const when = !at ? '' : ` (${at.slice(0, 10)})`;
  const question = /[?？]$/.test(about.trim()) ? about.trim() : `${about}:`;
  return `${line(`${question} ${decision}${reason ? ` — ${reason}` : ''}`)}${when}`;
}

const ANSWERED =
  /^(?:User has answered|Your questions have been answered)[^"]*((?:"[^"]+"="[^"]*"[,.\s]*)+)You can now continue[^"]*$/;

/** Questions and answers without the words that Claude Code puts around them, where all is there. */
function answered(text: string): string {
  const pairs = ANSWERED.exec(text.trim())?.[1]?.matchAll(/"([^"]+)"="([^"]*)"/g) ?? [];
  const answers = [...pairs].map(([, question, answer]) => `${question} ${answer}`);
  return line(answers.length > 0 ? answers.join('; ') : text);
}

function line(text: string): string {
  const words = revealInvisible(text).replaceAll(/\s+/g, ' ').trim();
  return words.length <= MAX_CHARACTERS
    ? words
    : `${words.slice(0, MAX_CHARACTERS - 1).trimEnd()}…`;
}

/** As many as fit, each marked as a quotation from earlier. */
export function quotation(about: string, quotes: readonly Quote[]): Quotation {
  const head = `> Quoted from earlier, what was decided about “${line(about)}”:`;
  const lines = [head];
  const fitting: Quote[] = [];
  for (const quote of quotes) {
    const where = quote.elsewhere === null ? '' : `In “${line(quote.elsewhere)}”: `;
    const next = `> - ${where}${quote.text}`;
    if (tokensOf([...lines, next].join('\n')) > MAX_TOKENS) break;
    lines.push(next);
    fitting.push(quote);
  }
  const text = lines.join('\n');
  return { quotes: fitting, text, tokens: tokensOf(text), omitted: quotes.length - fitting.length };
}

/** The person's message with the quotation before it. */
export function withQuotation({ text }: Quotation, words: string): string {
  return `${text}\n\n${words}`;
}

function tokensOf(text: string): number {
  return Math.ceil(new TextEncoder().encode(text).length / BYTES_A_TOKEN);
}
