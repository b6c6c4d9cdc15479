import type { Row } from './rows';

/**
 * Rows in bundles, drawn and put away together. Where one begins is decided by the key of its
 * first row alone, so that messages that come above or below leave all other bundles as they are.
 */

export interface PlacedRow {
  row: Row;
  /** Follows its predecessor without a gap: one tool after another is one list. */
  joined: boolean;
}

export interface Chunk {
  key: string;
  rows: readonly PlacedRow[];
}

const ABOUT = 6;
const MAX_ROWS = 12;

export function chunksOf(rows: readonly Row[]): Chunk[] {
  const chunks: { key: string; rows: PlacedRow[] }[] = [];
  let before: Row | undefined;
  for (const row of rows) {
    const last = chunks.at(-1);
    const placed = { row, joined: isTool(before) && isTool(row) };
    if (!last || last.rows.length >= MAX_ROWS || hash(row.key) % ABOUT === 0) {
      chunks.push({ key: row.key, rows: [placed] });
    } else {
      last.rows.push(placed);
    }
    before = row;
  }
  return chunks;
}

function isTool(row: Row | undefined): boolean {
  return row?.kind === 'tool' || row?.kind === 'tools';
}

/** FNV-1a: it only has to spread keys evenly. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  }
  return value >>> 0;
}

export function sameChunk(one: Chunk, other: Chunk): boolean {
  return (
    one === other ||
    (one.key === other.key &&
      one.rows.length === other.rows.length &&
      one.rows.every((placed, at) => {
        const counterpart = other.rows[at];
        return placed.row === counterpart?.row && placed.joined === counterpart.joined;
      }))
  );
}

/** The rows of some bundles, by their keys. */
export function rowsIn(chunks: readonly Chunk[]): ReadonlySet<string> {
  return new Set(chunks.flatMap((chunk) => chunk.rows.map(({ row }) => row.key)));
}

/**
 * Whether a bundle has one of these rows. What is drawn is remembered by its rows: bundles at the
 * edge of a page are cut otherwise once it is known what comes before them.
 */
export function hasAny(chunk: Chunk, rows: ReadonlySet<string>): boolean {
  return chunk.rows.some(({ row }) => rows.has(row.key));
}

/** A bundle to be drawn, or the empty box that stands for bundles that are not. */
export type ChunkPiece = { key: string; chunk: Chunk } | ChunkGap;

export interface ChunkGap {
  key: string;
  chunk: null;
  /** Which bundles it stands for: from `from` up to, not with, `to`. */
  from: number;
  to: number;
  height: number;
}

export function piecesOf(
  chunks: readonly Chunk[],
  isDrawn: (chunk: Chunk) => boolean,
  heightOf: (chunk: Chunk) => number,
): ChunkPiece[] {
  const pieces: ChunkPiece[] = [];
  chunks.forEach((chunk, at) => {
    const last = pieces.at(-1);
    if (isDrawn(chunk)) pieces.push({ key: chunk.key, chunk });
    else if (last?.chunk === null) {
      last.to = at + 1;
      last.height += heightOf(chunk);
    } else {
      const key = `gap/${chunk.key}`;
      pieces.push({ key, chunk: null, from: at, to: at + 1, height: heightOf(chunk) });
    }
  });
  return pieces;
}

/** The end of the conversation, enough to fill a view of this height. */
export function lastOf(chunks: readonly Chunk[], height: number): ReadonlySet<string> {
  const keys = new Set<string>();
  let filled = 0;
  for (const chunk of chunks.toReversed()) {
    if (filled >= height) break;
    keys.add(chunk.key);
    filled += guessedHeight(chunk);
  }
  return keys;
}

/**
 * A guess until it is measured, and rather too little: what turns out to be higher is made room for
 * by scrolling on, but at the very beginning nothing can be scrolled back.
 */
export function guessedHeight(chunk: Chunk): number {
  let height = 0;
  for (const { row, joined } of chunk.rows) height += guessedRow(row) + (joined ? 0 : 16);
  return height;
}

function guessedRow(row: Row): number {
  switch (row.kind) {
    case 'text':
    case 'prompt':
      return 24 + Math.floor(row.text.length / 110) * 24;
    default:
      return 24;
  }
}
