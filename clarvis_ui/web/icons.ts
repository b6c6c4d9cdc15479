/**
 * The icons of the installed app, drawn from the same few figures as `public/favicon.svg`.
 *
 * Phones and launchers want pictures made of points; a drawing kept as PNG could not be reviewed.
 */
import { crc32, deflateSync } from 'node:zlib';

type Colour = readonly [red: number, green: number, blue: number];

/** The drawing stands on a grid of 32. */
const GRID = 32;
const CORNER = 8;
const PAPER: Colour = [0x21, 0x1f, 0x1b];
const RING = { x: 16.21, y: 16, radius: 8.8, stroke: 3.4, gap: 5.6, colour: [0xfb, 0xfa, 0xf7] };
const POINT = { x: 16.6, y: 16, radius: 2.8, colour: [0xe5, 0x8b, 0x5f] };

export interface IconShape {
  size: number;
  /** To the edges, for systems that cut out a shape of their own. */
  full: boolean;
}

export const ICONS: Readonly<Record<string, IconShape>> = {
  'icon-192.png': { size: 192, full: false },
  'icon-512.png': { size: 512, full: false },
  'icon-full-512.png': { size: 512, full: true },
  'apple-touch-icon.png': { size: 180, full: true },
};

export function drawIcon({ size, full }: IconShape): Buffer {
  const scale = size / GRID;
  const rows = Buffer.alloc(size * (1 + size * 4));
  for (let row = 0; row < size; row += 1) {
    for (let column = 0; column < size; column += 1) {
      const x = (column + 0.5) / scale;
      const y = (row + 0.5) / scale;
      const at = row * (1 + size * 4) + 1 + column * 4;
      const inside = full ? 1 : coverage(toCorner(x, y), scale);
      const ring = coverage(toRing(x, y), scale);
      const point = coverage(Math.hypot(x - POINT.x, y - POINT.y) - POINT.radius, scale);
      for (let part = 0; part < 3; part += 1) {
        const under = mixed(PAPER[part] ?? 0, RING.colour[part] ?? 0, ring);
        rows[at + part] = mixed(under, POINT.colour[part] ?? 0, point);
      }
      rows[at + 3] = Math.round(255 * inside);
    }
  }
  return png(size, rows);
}

/** How much of a point lies inside, by its distance from the edge. */
function coverage(distance: number, scale: number): number {
  return Math.min(1, Math.max(0, 0.5 - distance * scale));
}

function mixed(under: number, over: number, share: number): number {
  return Math.round(under + (over - under) * share);
}

/** From the edge of a square with round corners; negative inside. */
function toCorner(x: number, y: number): number {
  const half = GRID / 2 - CORNER;
  const dx = Math.abs(x - GRID / 2) - half;
  const dy = Math.abs(y - GRID / 2) - half;
  return Math.hypot(Math.max(dx, 0), Math.max(dy, 0)) + Math.min(Math.max(dx, dy), 0) - CORNER;
}

/** From the edge of the open ring, whose ends are round. */
function toRing(x: number, y: number): number {
  const dx = x - RING.x;
  const dy = Math.abs(y - RING.y);
  const end = Math.sqrt(RING.radius ** 2 - RING.gap ** 2);
  const inGap = dx > 0 && dy / dx < RING.gap / end;
  const toLine = inGap
    ? Math.hypot(dx - end, dy - RING.gap)
    : Math.abs(Math.hypot(dx, dy) - RING.radius);
  return toLine - RING.stroke / 2;
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function png(size: number, rows: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header.set([8, 6], 8); // eight bits of each of red, green, blue and opacity
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(name: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), content]);
  const whole = Buffer.alloc(named.length + 8);
  whole.writeUInt32BE(content.length, 0);
  whole.set(named, 4);
  whole.writeUInt32BE(crc32(named), named.length + 4);
  return whole;
}
