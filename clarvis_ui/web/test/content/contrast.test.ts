import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { contrast } from '../support/colour';

const SOURCES = join(import.meta.dirname, '../../src');
const PALETTES = ['ui/tokens.css', 'content/tools/ansi.css', 'content/diff.css'].map((file) =>
  readFileSync(join(SOURCES, file), 'utf8').split('prefers-color-scheme: dark'),
);

/** All colours of a palette by name. */
function colours(side: 0 | 1): ReadonlyMap<string, string> {
  const text = PALETTES.map((parts) => parts[side]).join('\n');
  return new Map(
    [...text.matchAll(/--([\w-]+): #([0-9a-f]{6});/g)].map((m) => [m[1], m[2]] as [string, string]),
  );
}

describe.each([
  ['light', 0],
  ['dark', 1],
] as const)('%s', (_name, side) => {
  const palette = colours(side);
  const terminal = ['red', 'green', 'yellow', 'blue', 'magenta', 'cyan'].map((name) => `t-${name}`);
  const pairs = [
    ...terminal.map((text) => [text, 'panel'] as const),
    ...['added', 'added-word', 'removed', 'removed-word'].map((ground) => ['ink', ground] as const),
    ['ink-2', 'added'] as const,
    ['ink-2', 'removed'] as const,
  ];
  test.each(pairs)('--%s can be read on --%s', (text, ground) => {
    const [one = '', other = ''] = [palette.get(text), palette.get(ground)];
    expect(contrast(one, other)).toBeGreaterThanOrEqual(4.5);
  });
});
