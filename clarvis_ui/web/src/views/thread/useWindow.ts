import type { RefObject } from 'preact';
import { useCallback, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Chunk, guessedHeight } from './chunks';
import type { Spot } from './remembered';

/** Drawn beyond what is in sight, in heights of the window. */
const MARGIN = 1.5;
/** Closer than this to the end is at the end. */
const NEAR_END = 48;

export interface Window {
  /** Keys of the bundles that are drawn; the last two always are. */
  drawn: ReadonlySet<string>;
  /** The height that stands for a bundle that is not drawn. */
  heightOf(chunk: Chunk): number;
  /** Whether the view keeps to the end as the conversation grows. */
  following: boolean;
  far: boolean;
  toEnd(): void;
  jump(key: string, offset: number): boolean;
  /** What comes next is wanted by the reader and must not move what is in sight. */
  hold(): void;
  spot(): Spot | null;
}

interface Anchor {
  key: string;
  offset: number;
}

/**
 * Which bundles are drawn, and where the view stands. Everything else has its measured height, so
 * that ten thousand messages cost what is in sight. What comes above moves nothing: browsers that
 * anchor scrolling do it, and what they leave over is put right before it is seen.
 */
export function useWindow(
  box: RefObject<HTMLElement | null>,
  inner: RefObject<HTMLElement | null>,
  chunks: readonly Chunk[],
  onNearTop: () => void,
): Window {
  const heights = useRef(new Map<string, number>());
  const anchor = useRef<Anchor | null>(null);
  const lastTop = useRef(0);
  const lastHeight = useRef(0);
  const followingNow = useRef(true);
  const [drawn, setDrawn] = useState<ReadonlySet<string>>(() => lastScreens(chunks));
  const [following, setFollowing] = useState(true);
  const [far, setFar] = useState(false);
  const live = useRef({ chunks, drawn, onNearTop });
  live.current = { chunks, drawn, onNearTop };
  const jumping = useRef(false);

  const follow = useCallback((value: boolean) => {
    followingNow.current = value;
    setFollowing(value);
  }, []);

  /** What is near enough to be drawn now. */
  const look = useCallback(() => {
    const view = box.current;
    const column = inner.current;
    if (!view || !column) return;
    const { clientHeight, scrollTop } = view;
    const above = scrollTop - clientHeight * MARGIN;
    const below = scrollTop + clientHeight * (1 + MARGIN);
    const near = new Set<string>();
    const elements = column.children;
    for (let at = firstBelow(elements, above); at < elements.length; at += 1) {
      const element = elements[at];
      if (!(element instanceof HTMLElement) || element.offsetTop > below) break;
      if (element.dataset.chunk) near.add(element.dataset.chunk);
    }
    const before = live.current.drawn;
    if (near.size !== before.size || [...near].some((key) => !before.has(key))) setDrawn(near);
    setFar(view.scrollHeight - scrollTop - clientHeight > clientHeight);
    if (scrollTop < clientHeight * 2) live.current.onNearTop();
  }, [box, inner]);

  const keep = useCallback(() => {
    const view = box.current;
    if (!view) return;
    if (followingNow.current) {
      view.scrollTop = view.scrollHeight;
    } else if (anchor.current) {
      const element = find(view, anchor.current.key);
      if (element) {
        const moved = topIn(view, element) - anchor.current.offset;
        if (Math.abs(moved) >= 1) view.scrollTop += moved;
      }
    }
    lastTop.current = view.scrollTop;
    lastHeight.current = view.clientHeight;
  }, [box]);

  // after each drawing: at the end one stays at the end, and a jump arrives
  useLayoutEffect(() => {
    if (followingNow.current || jumping.current) keep();
    look();
  }, [chunks, drawn, keep, look]);

  useLayoutEffect(() => {
    const view = box.current;
    const column = inner.current;
    if (!view || !column) return;
    const onScroll = () => {
      // a card came or went below: it was the room that changed, not what one wants to see
      if (followingNow.current && view.clientHeight !== lastHeight.current) keep();
      const top = view.scrollTop;
      const left = view.scrollHeight - top - view.clientHeight;
      const up = top < lastTop.current - 1;
      lastTop.current = top;
      if (left < 2 || (left < NEAR_END && !up)) follow(true);
      else if (up || followingNow.current) follow(false);
      anchor.current = anchorIn(view, column);
      look();
    };
    const release = () => {
      jumping.current = false;
    };
    const observer = new ResizeObserver(() => {
      for (const element of column.children) {
        if (!(element instanceof HTMLElement) || !element.dataset.chunk) continue;
        if (element.dataset.drawn) heights.current.set(element.dataset.chunk, element.offsetHeight);
      }
      keep();
      look();
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
  }, [box, inner, follow, keep, look]);

  const actions = useMemo(
    () => ({
      heightOf: (chunk: Chunk) => heights.current.get(chunk.key) ?? guessedHeight(chunk),
      toEnd() {
        follow(true);
        jumping.current = false;
        setDrawn(lastScreens(live.current.chunks));
        keep();
      },
      jump(key: string, offset: number) {
        const { chunks } = live.current;
        const index = chunks.findIndex((chunk) => chunk.rows.some(({ row }) => row.key === key));
        if (index < 0) return false;
        follow(false);
        anchor.current = { key, offset };
        jumping.current = true;
        const around = chunks.slice(Math.max(0, index - 2), index + 3);
        setDrawn(new Set(around.map((chunk) => chunk.key)));
        keep();
        return true;
      },
      hold() {
        const view = box.current;
        if (view && inner.current) anchor.current = anchorIn(view, inner.current);
        follow(false);
      },
      spot(): Spot | null {
        if (followingNow.current) return { at: 'end' };
        const at = anchor.current;
        for (const { rows } of live.current.chunks) {
          const placed = at && rows.find(({ row }) => row.key === at.key);
          if (placed) return { at: 'row', key: at.key, uuid: placed.row.uuid, offset: at.offset };
        }
        return null;
      },
    }),
    [box, inner, follow, keep],
  );
  return useMemo(() => ({ ...actions, drawn, following, far }), [actions, drawn, following, far]);
}

/** The end of the conversation, enough for a window of any size. */
function lastScreens(chunks: readonly Chunk[]): ReadonlySet<string> {
  const keys = new Set<string>();
  let height = 0;
  for (let at = chunks.length - 1; at >= 0 && height < 2 * window.innerHeight; at -= 1) {
    const chunk = chunks[at];
    if (!chunk) break;
    keys.add(chunk.key);
    height += guessedHeight(chunk);
  }
  return keys;
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

export function find(view: HTMLElement, key: string): HTMLElement | null {
  return view.querySelector(`[data-row="${CSS.escape(key)}"]`);
}

/** The first row in sight. */
function anchorIn(view: HTMLElement, column: HTMLElement): Anchor | null {
  const elements = column.children;
  for (let at = firstBelow(elements, view.scrollTop); at < elements.length; at += 1) {
    for (const row of elements[at]?.children ?? []) {
      if (!(row instanceof HTMLElement) || !row.dataset.row) continue;
      const top = topIn(view, row);
      if (top + row.offsetHeight > 1) return { key: row.dataset.row, offset: top };
    }
  }
  return null;
}
