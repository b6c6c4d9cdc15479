import { expect, test } from 'vitest';
import type { Decision } from '../../src/api/resume';
import type { Hit } from '../../src/api/search';
import {
  decisionsAbout,
  MAX_TOKENS,
  quotation,
  quotesOf,
  withQuotation,
} from '../../src/composer/quotedDecisions';

const decided = (about: string, decision: string, uuid = about): Decision => ({
  kind: 'answer',
  about,
  decision,
  reason: null,
  uuid,
  at: '2026-03-01T10:00:00Z',
});
const DATABASE = decided('Which database?', 'SQLite');
const COLOUR = decided('Which colour?', 'red');

const hit = (sessionId: string, uuid: string, words: string, more: Partial<Hit> = {}): Hit => ({
  sessionId,
  uuid,
  agentId: null,
  toolUseId: null,
  kind: 'toolResult',
  timestamp: null,
  decision: true,
  inside: false,
  where: 'result',
  tool: null,
  snippet: [{ text: words, match: true }],
  title: 'Elsewhere',
  workdir: '/code',
  project: 'code',
  ...more,
});

test('decisions are found by the words that tell, however they are inflected', () => {
  const all = [DATABASE, COLOUR];
  expect(decisionsAbout(all, 'the databases')).toEqual([DATABASE]);
  expect(decisionsAbout(all, 'our Colour')).toEqual([COLOUR]);
  expect(decisionsAbout(all, 'caching')).toEqual([]);
});

test('what the search finds besides is told once, and where it was', () => {
  const hits = [
    hit('s', 'Which database?', 'the same again'),
    hit('s', 'Which colour?', 'cut off'),
    hit('s', 'older', 'an older one'),
    hit('t', 'there', 'a database there'),
    hit('t', 'no', 'no decision', { decision: false }),
  ];
  expect(quotesOf('s', [DATABASE], [DATABASE, COLOUR], hits)).toEqual([
    { text: 'Which database? SQLite (2026-03-01)', elsewhere: null },
    { text: 'Which colour? red (2026-03-01)', elsewhere: null },
    { text: 'an older one', elsewhere: null },
    { text: 'a database there', elsewhere: 'Elsewhere' },
  ]);
});

test('an answer in another session is quoted without the words around it', () => {
  const quoteOf = (words: string) => quotesOf('s', [], [], [hit('t', words, words)])[0]?.text;
  const end = 'You can now continue with these answers in mind.';
  expect(quoteOf(`Your questions have been answered: "Where to?"="Object storage". ${end}`)).toBe(
    'Where to? Object storage',
  );
  expect(quoteOf(`User has answered your questions: "A?"="x", "B?"="y". ${end}`)).toBe(
    'A? x; B? y',
  );
  // what is cut off, or has marks of its own, is not guessed at
  const cut = 'Your questions have been answered: "Where to?"="Object stor…';
  expect(quoteOf(cut)).toBe(cut);
  const marks = `Your questions have been answered: "Say "go"?"="yes". ${end}`;
  expect(quoteOf(marks)).toBe(marks);
});

test('the quotation is marked line by line and is part of the message', () => {
  const quotes = quotesOf('s', [DATABASE], [DATABASE], [hit('t', 'there', 'two\nlines')]);
  const quoted = quotation('the database', quotes);
  expect(withQuotation(quoted, 'What did we decide about the database?')).toBe(
    [
      '> Quoted from earlier, what was decided about “the database”:',
      '> - Which database? SQLite (2026-03-01)',
      '> - In “Elsewhere”: two lines',
      '',
      'What did we decide about the database?',
    ].join('\n'),
  );
});

test('no more than the budget is quoted, and what is left out is counted', () => {
  const long = Array.from({ length: 60 }, (_, at) => decided(`question ${at}`, 'x'.repeat(900)));
  const quoted = quotation('it', quotesOf('s', long, long, []));
  expect(quoted.tokens).toBeLessThanOrEqual(MAX_TOKENS);
  expect(quoted.quotes.length).toBeGreaterThan(3);
  expect(quoted.quotes.length + quoted.omitted).toBe(60);
  expect(new TextEncoder().encode(quoted.text).length).toBeLessThanOrEqual(MAX_TOKENS * 3);
});

test('nothing that is hidden is sent in somebody’s name', () => {
  const odd = decided('a\u202eb', 'c\u200bd');
  expect(quotation('x', quotesOf('s', [odd], [odd], [])).text).not.toMatch(/[\u202e\u200b]/);
});

test('where not all fit, the newest decisions of the session are quoted', () => {
  const decisions = Array.from({ length: 30 }, (_, at) =>
    decided(`Which database ${at}?`, 'x'.repeat(200), `u${at}`),
  );
  const { quotes, omitted, text } = quotation(
    'the database',
    quotesOf('s', decisions, decisions, []),
  );
  expect(omitted).toBeGreaterThan(0);
  expect(quotes[0]?.text).toContain('Which database 29?');
  expect(text).not.toContain('Which database 0?');
});
