import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { contrast } from '../support/colour';

const css = readFileSync(join(import.meta.dirname, '../../src/ui/tokens.css'), 'utf8');
const [light = '', dark = ''] = css.split('prefers-color-scheme: dark');

const TEXT = ['ink', 'ink-2', 'ink-3', 'accent', 'run', 'ok', 'bad'];
const GROUNDS = ['paper', 'panel', 'raise'];

function colour(palette: string, name: string): string {
  const value = new RegExp(`--${name}: #([0-9a-f]{6});`).exec(palette)?.[1];
  if (!value) throw new Error(`no colour --${name}`);
  return value;
}

describe.each([
  ['light', light],
  ['dark', dark],
])('%s', (_name, palette) => {
  const pairs = TEXT.flatMap((text) => GROUNDS.map((ground) => [text, ground] as const));
  test.each([
    ...pairs,
    ['accent', 'accent-soft'] as const,
    ['on-accent', 'accent'] as const,
    ['paper', 'ink'] as const,
  ])('--%s can be read on --%s', (text, ground) => {
    expect(contrast(colour(palette, text), colour(palette, ground))).toBeGreaterThanOrEqual(4.5);
  });
});
