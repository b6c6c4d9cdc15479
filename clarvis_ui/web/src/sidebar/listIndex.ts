import type { SessionSection } from '../sessions/groupByProject';
import { type Layout, layOut, ROW_HEIGHT, type RowPlace, rowTop } from './listLayout';

/** The list as it stands: which session is where, and which comes after which. */
export interface ListIndex {
  layout: Layout;
  order: readonly string[];
  positions: ReadonlyMap<string, RowPlace>;
}

export function listIndexOf(sections: readonly SessionSection[]): ListIndex {
  const order: string[] = [];
  const positions = new Map<string, RowPlace>();
  sections.forEach(({ sessions }, section) => {
    sessions.forEach((session, row) => {
      order.push(session.id);
      positions.set(session.id, { section, row });
    });
  });
  return {
    layout: layOut(sections.map(({ sessions }) => sessions.length)),
    order,
    positions,
  };
}

export function topOf(index: ListIndex, id: string): number | null {
  const position = index.positions.get(id);
  return position ? rowTop(index.layout, position) : null;
}

/**
 * Where to scroll after the list changed, so that what one reads stays where it is: the row that is
 * open, if it is in sight. Otherwise rows move each for its own reason, and the view goes with the
 * middle one of those in sight.
 */
export function steadyTop(
  before: ListIndex,
  after: ListIndex,
  top: number,
  height: number,
  openId: string | null = null,
): number {
  if (top <= 0) return top; // at the top one wants to see what is new
  const shifts: number[] = [];
  for (const id of before.order) {
    const was = topOf(before, id);
    if (was === null || was + ROW_HEIGHT <= top) continue;
    if (was >= top + height) break;
    const is = topOf(after, id);
    if (is === null) continue;
    if (id === openId) return Math.max(0, top + is - was);
    shifts.push(is - was);
  }
  shifts.sort((a, b) => a - b);
  return Math.max(0, top + (shifts[shifts.length >> 1] ?? 0));
}

const PAGE_ROWS = 8;

/** Where a key leads from a row; null for a key that leads nowhere. */
export function rowAfterKey(index: ListIndex, id: string | null, key: string): string | null {
  const last = index.order.length - 1;
  const at = id === null ? -1 : index.order.indexOf(id);
  const step = (by: number) => index.order[Math.min(last, Math.max(0, at + by))] ?? null;
  switch (key) {
    case 'ArrowDown':
      return step(1);
    case 'ArrowUp':
      return step(-1);
    case 'PageDown':
      return step(PAGE_ROWS);
    case 'PageUp':
      return step(-PAGE_ROWS);
    case 'Home':
      return step(-Infinity);
    case 'End':
      return step(Infinity);
    default:
      return null;
  }
}
