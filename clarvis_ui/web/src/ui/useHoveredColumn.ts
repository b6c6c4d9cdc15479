import { useRef, useState } from 'preact/hooks';

export interface HoveredColumn {
  /** The column that is pointed at; null where none is. */
  at: number | null;
  point(at: number | null): void;
  /** For the drawing as a whole. */
  hands: {
    onPointerDown(event: PointerEvent): void;
    onPointerMove(event: PointerEvent): void;
    onPointerUp(event: PointerEvent): void;
    onPointerLeave(event: PointerEvent): void;
    onPointerCancel(): void;
  };
}

/**
 * Which column of a plot is pointed at: the nearest, since on a phone each is narrower than a
 * finger. A finger that slides goes from one to the next; `onSlid` is told where it was lifted.
 */
export function useHoveredColumn(
  count: number,
  onSlid: (at: number) => void = () => {},
): HoveredColumn {
  const [at, setAt] = useState<number | null>(null);
  const began = useRef<number | null>(null);

  function nearest({ currentTarget, clientX }: PointerEvent): number {
    const { left, width } = (currentTarget as Element).getBoundingClientRect();
    const column = Math.floor(((clientX - left) / Math.max(1, width)) * count);
    return Math.min(count - 1, Math.max(0, column));
  }

  return {
    at,
    point: setAt,
    hands: {
      onPointerDown(event) {
        began.current = nearest(event);
        setAt(began.current);
      },
      onPointerMove: (event) => setAt(nearest(event)),
      onPointerUp(event) {
        const lifted = nearest(event);
        if (began.current !== null && began.current !== lifted) onSlid(lifted);
        began.current = null;
      },
      onPointerLeave({ pointerType }) {
        // a finger leaves by being lifted: what it chose stays
        if (pointerType === 'mouse') setAt(null);
        began.current = null;
      },
      onPointerCancel() {
        began.current = null;
      },
    },
  };
}

/** Where a key leads in a row of so many. */
export function steppedBy(key: string, at: number, last: number): number | null {
  const next = STEPS[key]?.(at, last);
  return next === undefined ? null : Math.min(last, Math.max(0, next));
}

const STEPS: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowLeft: (at) => at - 1,
  ArrowRight: (at) => at + 1,
  Home: () => 0,
  End: (_at, last) => last,
};
