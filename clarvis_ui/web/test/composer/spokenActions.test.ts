import { describe, expect, test } from 'vitest';
import { spokenActionOf } from '../../src/composer/spokenActions';

const QUICK = `give me a quick summary
Give me a quick summary.
can you give me a quick summary, please?
quick recap
a short summary of this session
hey Claude, please give me a brief recap
tl;dr
TLDR
where were we?
Where are we
catch me up
recap
summarize briefly
give me a summary
summarize where we are
gimme a quick summary
can I get a quick summary?
"give me a quick summary"
remind me where we were
give me a quick update
fass kurz zusammen`;
const DETAILED = `give me a detailed summary
full recap please
I'd like a detailed recap
summarize everything in detail`;
const SKIP = `skip the recap
Skip the recap!
please skip the summary
no recap
no summary needed
skip recap
I don't need a recap
no need for a recap
never mind the recap
let's dive right in
just jump straight in`;
const ALTERNATIVE = `let's explore an alternative
Let’s explore an alternative.
let's try another approach
explore alternatives
let's try a different approach
ok, let's look at another option instead
I'd like to explore a different direction
lets explore an alternative
I want to explore an alternative
can we explore an alternative?
fork this session`;
const DECIDED: readonly [string, string][] = [
  ['What did we decide about the database?', 'the database'],
  ['what did we decide on caching', 'caching'],
  ['What have we decided for the till?', 'the till'],
  ['so what did we decide about “user roles”?', 'user roles'],
  ['what was the decision about logging', 'logging'],
  ['which decisions did we make about tests?', 'tests'],
  ['What was decided about caching?', 'caching'],
  ['what has been decided on caching', 'caching'],
  ['did we decide anything about caching?', 'caching'],
  ['what did we decide re caching', 'caching'],
  ["what's our decision on caching", 'caching'],
  ['remind me what we decided about names', 'names'],
  ['Was haben wir über die Datenbank entschieden?', 'die Datenbank'],
];
const MESSAGES = `give me a quick summary of the failing tests and fix them
write a function that gives me a quick summary
skip the recap in the release notes
let's explore an alternative to Redux for the store
explain what "skip the recap" does
what did we decide about the database? Please write it into the README
what did we decide about the database and then update the docs
add a quick summary to the page
summarize the file shop.py
give me a quick summary of shop.py
the recap is wrong
no
recap the changes in git
try another way to parse dates
do a full update
make a short overview
quick update
skip the update
close the overview
look at the options
try the new approach
try another path
let's try the route
fork it
explain an alternative
where were we using the cache?
/recap
give me a quick summary
of everything`;

const lines = (words: string): string[] => words.split('\n');

describe('words that mean a button', () => {
  test.each(lines(QUICK))('%s → quick', (words) => {
    expect(spokenActionOf(words)).toEqual({ kind: 'recap', level: 'quick' });
  });
  test.each(lines(DETAILED))('%s → detailed', (words) => {
    expect(spokenActionOf(words)).toEqual({ kind: 'recap', level: 'detailed' });
  });
  test.each(lines(SKIP))('%s → skip', (words) => {
    expect(spokenActionOf(words)).toEqual({ kind: 'skip' });
  });
  test.each(lines(ALTERNATIVE))('%s → alternative', (words) => {
    expect(spokenActionOf(words)).toEqual({ kind: 'alternative' });
  });
  test.each(DECIDED)('%s → %s', (words, about) => {
    expect(spokenActionOf(words)).toEqual({ kind: 'decided', about, words });
  });
});

test.each(lines(MESSAGES).slice(0, -2))('%s is a message', (words) => {
  expect(spokenActionOf(words)).toBeNull();
});

test('two lines are a message, and so is nothing', () => {
  expect(spokenActionOf('give me a quick summary\nof everything')).toBeNull();
  expect(spokenActionOf('  ')).toBeNull();
  expect(spokenActionOf(`what did we decide about ${'x'.repeat(200)}`)).toBeNull();
});
