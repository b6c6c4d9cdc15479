import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const css = readFileSync(join(import.meta.dirname, '../src/ui/tokens.css'), 'utf8');
const [light = '', dark = ''] = css.split('prefers-color-scheme: dark');

const TEXT = ['ink', 'ink-2', 'ink-3', 'accent', 'run', 'ok', 'bad'];
const GROUNDS = ['paper', 'panel', 'raise'];

function colour(palette: string, name: string): string {
  const found = new RegExp(`--${name}: #([0-9a-f]{6});`).exec(palette)?.[1];
  if (!found) throw new Error(`no colour --${name}`);
  return found;
}

function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [0, 2, 4]
    .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one: string, other: string): number {
  const [dim = 0, bright = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (bright + 0.05) / (dim + 0.05);
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
