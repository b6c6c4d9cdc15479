import { options, type RefObject } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import {
  type Chunk,
  type ChunkPiece,
  guessedHeight,
  hasAny,
  lastOf,
  piecesOf,
  rowsIn,
} from '../rows/chunks';
import type { ScrollPosition } from './scrollPosition';
import { type ChunkBox, chunksToDraw, isWithin } from './visibleChunks';

/** Closer than this to the end is at the end. */
const NEAR_END = 48;
/** So much of the end is always drawn, in heights of the window: one opens it, and comes back. */
const LAST_SCREENS = 1.5;
const MIN_SCREEN = 800;

export interface VirtualScroll {
  /** The bundles that are drawn, and boxes as high as the others; the last ones always are. */
  pieces: readonly ChunkPiece[];
  /** Whether the view keeps to the end as the conversation grows. */
  following: boolean;
  far: boolean;
  toEnd(): void;
  jump(key: string, offset: number): boolean;
  /** The reader expands something next: the visible part must not move. */
  hold(): void;
  /** Whether the person has moved since the last jump. */
  moved(): boolean;
  position(): ScrollPosition | null;
}

/** Rows in sight and how far below the upper edge they stand; the first one is the place. */
type Anchors = readonly { key: string; offset: number }[];

/** A row can become part of another one when it is known what comes before it: then the next. */
const MAX_ANCHORS = 8;

/**
 * Which bundles are drawn, and where the view stands. Everything else has its measured height, so
 * that ten thousand messages cost what is in sight. What comes above moves nothing: browsers that
 * anchor scrolling do it, and what they leave over is put right before it is seen.
 */
export function useVirtualScroll(
  box: RefObject<HTMLElement | null>,
  inner: RefObject<HTMLElement | null>,
  chunks: readonly Chunk[],
  onNearTop: () => void,
): VirtualScroll {
  const heights = useRef(new Map<string, number>());
  const anchors = useRef<Anchors>([]);
  const lastTop = useRef(0);
  /** Where the view stood when the anchors were chosen. */
  const anchoredAt = useRef(0);
  const lastHeight = useRef(0);
  const followingNow = useRef(true);
  /** Rows; their bundles are drawn. */
  const [drawn, setDrawn] = useState<ReadonlySet<string>>(new Set());
  const [following, setFollowing] = useState(true);
  const [far, setFar] = useState(false);
  const live = useRef({ chunks, drawn, onNearTop });
  live.current = { chunks, drawn, onNearTop };
  const jumping = useRef(false);
  const frame = useRef(0);
  const heightOf = useCallback(
    (chunk: Chunk) => heights.current.get(chunk.key) ?? guessedHeight(chunk),
    [],
  );
  const last = useMemo(
    // a tab that nobody has looked at yet has no height, and gets no frames to draw more in
    () => lastOf(chunks, LAST_SCREENS * Math.max(window.innerHeight, MIN_SCREEN)),
    [chunks],
  );
  const pieces = useMemo(
    () => piecesOf(chunks, (chunk) => last.has(chunk.key) || hasAny(chunk, drawn), heightOf),
    [chunks, drawn, last, heightOf],
  );

  const follow = useCallback((value: boolean) => {
    followingNow.current = value;
    setFollowing(value);
  }, []);

  /** The chunks that are near enough to be rendered. */
  const update = useCallback(() => {
    const view = box.current;
    const column = inner.current;
    if (!view || !column) return;
    const { clientHeight, scrollTop } = view;
    // a script has scrolled, and the event that says so is still to come
    if (scrollTop !== anchoredAt.current && !followingNow.current && !jumping.current) {
      anchors.current = anchorsIn(view, column);
      anchoredAt.current = scrollTop;
    }
    const viewport = { top: scrollTop, height: clientHeight };
    const { chunks, drawn: before } = live.current;
    const boxes = boxesIn(column, chunks, heightOf).filter((one) => isWithin(one, viewport));
    const { drawn: near, waits } = chunksToDraw(boxes, viewport);
    const rows = rowsIn(chunks.filter(({ key }) => near.has(key)));
    if (rows.size !== before.size || [...rows].some((key) => !before.has(key))) setDrawn(rows);
    if (waits) updateSoon();
    setFar(view.scrollHeight - scrollTop - clientHeight > clientHeight);
    if (scrollTop < clientHeight * 2) live.current.onNearTop();
  }, [box, inner, heightOf]);

  // once a frame, however often it is asked for: each update may draw some bundles
  const updateSoon = useCallback(() => {
    frame.current ||= requestAnimationFrame(() => {
      frame.current = 0;
      update();
    });
  }, [update]);
  useEffect(() => () => cancelAnimationFrame(frame.current), []);

  useEffect(() => {
    const drawAll = () => atOnce(() => setDrawn(rowsIn(live.current.chunks)));
    addEventListener('beforeprint', drawAll);
    addEventListener('afterprint', updateSoon);
    return () => {
      removeEventListener('beforeprint', drawAll);
      removeEventListener('afterprint', updateSoon);
    };
  }, [updateSoon]);

  const keep = useCallback(() => {
    const view = box.current;
    if (!view) return;
    if (followingNow.current) {
      view.scrollTop = view.scrollHeight;
    } else {
      const anchor = anchors.current.find(({ key }) => findRow(view, key));
      const element = anchor && findRow(view, anchor.key);
      const moved = element ? topIn(view, element) - anchor.offset : 0;
      if (Math.abs(moved) >= 1) view.scrollTop += moved;
      // nothing had been drawn here, or all of it is gone: what is in sight now is what stays
      if (!anchor && !jumping.current && inner.current) {
        anchors.current = anchorsIn(view, inner.current);
      }
    }
    lastTop.current = anchoredAt.current = view.scrollTop;
    lastHeight.current = view.clientHeight;
  }, [box, inner]);

  // after each drawing, and before anything else can update: one stays at the end or at the line that
  // one reads, and a jump arrives
  useLayoutEffect(() => {
    keep();
    updateSoon();
  }, [pieces, keep, updateSoon]);

  useLayoutEffect(() => {
    const view = box.current;
    const column = inner.current;
    if (!view || !column) return;
    const onScroll = () => {
      // a card came or went below: it was the room that changed, not what one wants to see
      if (followingNow.current && view.clientHeight !== lastHeight.current) keep();
      const top = view.scrollTop;
      const below = view.scrollHeight - top - view.clientHeight;
      const up = top < lastTop.current - 1;
      lastTop.current = top;
      if (below < 2 || (below < NEAR_END && !up)) follow(true);
      else if (up || followingNow.current) follow(false);
      anchors.current = anchorsIn(view, column);
      anchoredAt.current = top;
      updateSoon();
    };
    const release = () => {
      jumping.current = false;
    };
    const observer = new ResizeObserver(() => {
      for (const element of column.children) {
        if (!(element instanceof HTMLElement) || !element.dataset.chunk) continue;
        heights.current.set(element.dataset.chunk, element.offsetHeight);
      }
      keep();
      updateSoon();
    });
    // its parent also holds what is being written below the last row
    observer.observe(column.parentElement ?? column);
    observer.observe(view);
    view.addEventListener('scroll', onScroll, { passive: true });
    for (const kind of ['wheel', 'touchstart', 'keydown'] as const) {
      view.addEventListener(kind, release, { passive: true });
    }
    return () => {
      observer.disconnect();
      view.removeEventListener('scroll', onScroll);
      for (const kind of ['wheel', 'touchstart', 'keydown'] as const) {
        view.removeEventListener(kind, release);
      }
    };
  }, [box, inner, follow, keep, updateSoon]);

  const actions = useMemo(
    () => ({
      toEnd() {
        follow(true);
        jumping.current = false;
        keep();
      },
      jump(key: string, offset: number) {
        const { chunks } = live.current;
        const index = chunks.findIndex((chunk) => chunk.rows.some(({ row }) => row.key === key));
        if (index < 0) return false;
        follow(false);
        anchors.current = [{ key, offset }];
        jumping.current = true;
        setDrawn(rowsIn(chunks.slice(Math.max(0, index - 4), index + 5)));
        keep();
        return true;
      },
      hold() {
        const view = box.current;
        if (view && inner.current) anchors.current = anchorsIn(view, inner.current);
        follow(false);
      },
      moved: () => !jumping.current,
      position(): ScrollPosition | null {
        if (followingNow.current) return { at: 'end' };
        const at = anchors.current[0];
        for (const { rows } of live.current.chunks) {
          const placed = at && rows.find(({ row }) => row.key === at.key);
          if (placed) return { at: 'row', key: at.key, uuid: placed.row.uuid, offset: at.offset };
        }
        return null;
      },
    }),
    [box, inner, follow, keep],
  );
  return useMemo(() => ({ ...actions, pieces, following, far }), [actions, pieces, following, far]);
}

/** Renders synchronously, because printing takes the page as it is then. */
function atOnce(change: () => void): void {
  const usual = options.debounceRendering;
  options.debounceRendering = (draw) => draw();
  change();
  options.debounceRendering = usual as NonNullable<typeof usual>;
}

/** Where every bundle stands: those that are not drawn by their heights, inside of their box. */
function boxesIn(
  column: HTMLElement,
  chunks: readonly Chunk[],
  heightOf: (chunk: Chunk) => number,
): ChunkBox[] {
  const boxes: ChunkBox[] = [];
  for (const element of column.children) {
    if (!(element instanceof HTMLElement)) continue;
    const { chunk, from, to } = element.dataset;
    let top = element.offsetTop;
    if (chunk) boxes.push({ key: chunk, top, height: element.offsetHeight, drawn: true });
    for (const each of chunk ? [] : chunks.slice(Number(from), Number(to))) {
      const height = heightOf(each);
      boxes.push({ key: each.key, top, height, drawn: false });
      top += height;
    }
  }
  return boxes;
}

/** The first of the children that ends below a line, found by halves. */
function firstBelow(elements: HTMLCollection, line: number): number {
  let low = 0;
  let high = elements.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const element = elements[middle] as HTMLElement;
    if (element.offsetTop + element.offsetHeight < line) low = middle + 1;
    else high = middle;
  }
  return low;
}

function topIn(view: HTMLElement, element: Element): number {
  return element.getBoundingClientRect().top - view.getBoundingClientRect().top;
}

export function findRow(view: HTMLElement, key: string): HTMLElement | null {
  return view.querySelector(`[data-row="${CSS.escape(key)}"]`);
}

/** The first rows in sight. */
function anchorsIn(view: HTMLElement, column: HTMLElement): Anchors {
  const anchors: { key: string; offset: number }[] = [];
  const elements = column.children;
  for (let at = firstBelow(elements, view.scrollTop); at < elements.length; at += 1) {
    for (const row of elements[at]?.children ?? []) {
      if (!(row instanceof HTMLElement) || !row.dataset.row) continue;
      const offset = topIn(view, row);
      if (offset > view.clientHeight) return anchors;
      if (offset + row.offsetHeight > 1) anchors.push({ key: row.dataset.row, offset });
      if (anchors.length === MAX_ANCHORS) return anchors;
    }
  }
  return anchors;
}
