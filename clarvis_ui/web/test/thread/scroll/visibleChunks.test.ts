import { describe, expect, test } from 'vitest';
import { chunksOf, hasAny, lastOf, piecesOf, rowsIn } from '../../../src/thread/rows/chunks';
import { rowsOf } from '../../../src/thread/rows/rows';
import { type ChunkBox, chunksToDraw, isWithin } from '../../../src/thread/scroll/visibleChunks';
import { reply } from '../../support/messages';

const SIGHT = { top: 1000, height: 100 };
const box = (top: number): ChunkBox => ({ key: `at ${top}`, top, height: 50, drawn: false });
const drawnAt = (top: number): ChunkBox => ({ ...box(top), drawn: true });
const keys = (...tops: number[]) => new Set(tops.map((top) => `at ${top}`));

describe('what is drawn next', () => {
  test('is what is in sight, a few at a time', () => {
    const boxes = [960, 1010, 1060, 1090].map(box);
    const first = chunksToDraw(boxes, SIGHT);
    expect(first.drawn.size).toBe(3);
    expect(first.waits).toBe(true);
    const second = chunksToDraw(
      boxes.map((each) => ({ ...each, drawn: first.drawn.has(each.key) })),
      SIGHT,
    );
    expect(second.drawn).toEqual(keys(960, 1010, 1060, 1090));
    expect(second.waits).toBe(false);
  });

  test('is the nearest, above or below, once all in sight is there', () => {
    const boxes = [box(800), box(900), drawnAt(1010), box(1110), box(1200)];
    const { drawn, waits } = chunksToDraw(boxes, SIGHT);
    expect(drawn).toEqual(keys(1010, 1110));
    expect(waits).toBe(true);
  });

  test('leaves alone what is there already', () => {
    expect(chunksToDraw([800, 1010].map(drawnAt), SIGHT)).toEqual({
      drawn: keys(800, 1010),
      waits: false,
    });
  });

  test('is never far away', () => {
    expect([700, 800, 1010, 1250, 1300].filter((top) => isWithin(box(top), SIGHT))).toEqual([
      800, 1010, 1250,
    ]);
  });
});

describe('the pieces of a conversation', () => {
  const chunks = chunksOf(
    rowsOf(
      Array.from({ length: 200 }, (_, at) => reply(`uuid-${at}-${at * 7919}`, `text ${at}`)),
      { running: false, hasOlder: false },
    ),
  );

  test('hold every bundle once, drawn or in the box that stands for it', () => {
    const drawn = new Set([5, 6, 9].map((at) => chunks[at]?.key));
    const pieces = piecesOf(
      chunks,
      ({ key }) => drawn.has(key),
      () => 10,
    );
    const held = pieces.flatMap((piece) =>
      piece.chunk ? [piece.chunk] : chunks.slice(piece.from, piece.to),
    );
    expect(held).toEqual(chunks);
    expect(pieces).toHaveLength(6);
    expect(pieces[0]).toMatchObject({ chunk: null, from: 0, to: 5, height: 50 });
  });

  test('what was drawn is drawn, wherever a page that comes before it cuts the bundles', () => {
    const messages = Array.from({ length: 400 }, (_, at) =>
      reply(`uuid-${at}-${at * 7919}`, `text ${at}`),
    );
    const cut = (from: number) =>
      chunksOf(rowsOf(messages.slice(from), { running: false, hasOlder: from > 0 }));
    for (let from = 100; from < 130; from += 1) {
      const drawn = rowsIn(cut(from).slice(0, 3));
      const then = rowsIn(cut(0).filter((chunk) => hasAny(chunk, drawn)));
      expect([...drawn].filter((key) => !then.has(key))).toEqual([]);
    }
  });

  test('the end of it fills the view, and no more than that', () => {
    const last = lastOf(chunks, 600);
    expect([...last][0]).toBe(chunks.at(-1)?.key);
    expect(last.size).toBeLessThan(chunks.length / 2);
    expect(lastOf(chunks, 1e9).size).toBe(chunks.length);
  });
});
