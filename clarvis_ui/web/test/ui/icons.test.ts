import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { drawIcon, ICONS } from '../../icons';

const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');

function points(icon: Buffer): { size: number; at(x: number, y: number): number[] } {
  const size = icon.readUInt32BE(16);
  const length = icon.readUInt32BE(33);
  const rows = inflateSync(icon.subarray(41, 41 + length));
  return {
    size,
    // in parts of the whole
    at(x, y) {
      const start = Math.floor(y * size) * (1 + size * 4) + 1 + Math.floor(x * size) * 4;
      return [...rows.subarray(start, start + 4)];
    },
  };
}

describe.each(Object.entries(ICONS))('%s', (_name, shape) => {
  const icon = points(drawIcon(shape));

  test('has its size', () => {
    expect(icon.size).toBe(shape.size);
  });

  test('shows the point in the open ring', () => {
    expect(icon.at(0.52, 0.5)).toEqual([0xe5, 0x8b, 0x5f, 255]);
    expect(icon.at(0.507 - 8.8 / 32, 0.5)).toEqual([0xfb, 0xfa, 0xf7, 255]);
    expect(icon.at(0.507 + 8.8 / 32, 0.5)).toEqual([0x21, 0x1f, 0x1b, 255]);
  });

  test('fills its corners only where a system cuts them', () => {
    expect(icon.at(0, 0)[3]).toBe(shape.full ? 255 : 0);
  });
});

test('the manifest names icons that there are, in their sizes', () => {
  const { icons } = JSON.parse(read('public/manifest.webmanifest'));
  for (const { src, sizes, type } of icons) {
    if (type === 'image/svg+xml') continue;
    const size = ICONS[src.slice(1)]?.size;
    expect(sizes).toBe(`${size}x${size}`);
  }
});

test('the colours around the page are those of the page', () => {
  const tokens = read('src/ui/tokens.css');
  const manifest = JSON.parse(read('public/manifest.webmanifest'));
  const [light, dark] = [...tokens.matchAll(/--panel: (#\w+)/g)].map((match) => match[1]);
  const themes = [...read('index.html').matchAll(/theme-color" content="(#\w+)"/g)];
  expect(themes.map((match) => match[1])).toEqual([light, dark]);
  expect(manifest.theme_color).toBe(light);
  expect(tokens).toContain(`--paper: ${manifest.background_color}`);
});
