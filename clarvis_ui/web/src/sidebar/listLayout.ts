import type { SessionSection } from '../sessions/groupByProject';
/**
 * Where things stand in a long list of sections with rows of one height: only what is in sight is
 * drawn, and a row can be found again after the list has changed.
 */
export const HEADING_HEIGHT = 32;
export const ROW_HEIGHT = 52;
const OVERSCAN = 8 * ROW_HEIGHT;

export interface SectionLayout {
  top: number;
  height: number;
  rows: number;
}

export interface Layout {
  sections: readonly SectionLayout[];
  height: number;
}

export function layOut(rowCounts: readonly number[]): Layout {
  let top = 0;
  const sections = rowCounts.map((rows) => {
    const section = { top, height: HEADING_HEIGHT + rows * ROW_HEIGHT, rows };
    top += section.height;
    return section;
  });
  return { sections, height: top };
}

/** A section that is in sight, and which of its rows are: from `first` up to, not with, `end`. */
export interface VisibleSection {
  index: number;
  first: number;
  end: number;
}

export function visibleSections(
  layout: Layout,
  scrollTop: number,
  height: number,
): VisibleSection[] {
  const from = scrollTop - OVERSCAN;
  const to = scrollTop + height + OVERSCAN;
  const visible: VisibleSection[] = [];
  for (let index = firstEndingAfter(layout, from); index < layout.sections.length; index += 1) {
    const section = layout.sections[index];
    if (!section || section.top >= to) break;
    const rowsTop = section.top + HEADING_HEIGHT;
    const first = clamp(Math.floor((from - rowsTop) / ROW_HEIGHT), 0, section.rows);
    const end = clamp(Math.ceil((to - rowsTop) / ROW_HEIGHT), first, section.rows);
    visible.push({ index, first, end });
  }
  return visible;
}

function firstEndingAfter(layout: Layout, position: number): number {
  let low = 0;
  let high = layout.sections.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const section = layout.sections[middle];
    if (section && section.top + section.height <= position) low = middle + 1;
    else high = middle;
  }
  return low;
}

export interface RowPlace {
  section: number;
  row: number;
}

export function rowTop(layout: Layout, position: RowPlace): number {
  const section = layout.sections[position.section];
  return (section?.top ?? 0) + HEADING_HEIGHT + position.row * ROW_HEIGHT;
}

/** Where to scroll so that a row is wholly in sight, below the heading that sticks to the top. */
export function scrollToShow(top: number, scrollTop: number, height: number): number {
  if (top < scrollTop + HEADING_HEIGHT) return top - HEADING_HEIGHT;
  if (top + ROW_HEIGHT > scrollTop + height) return top + ROW_HEIGHT - height;
  return scrollTop;
}

/** The same for a row one comes to from elsewhere: in the middle, if it was out of sight. */
export function scrollToReveal(top: number, scrollTop: number, height: number): number {
  const inSight = top + ROW_HEIGHT > scrollTop + HEADING_HEIGHT && top < scrollTop + height;
  if (inSight) return scrollToShow(top, scrollTop, height);
  return Math.max(0, top - (height - ROW_HEIGHT) / 2);
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

/** The position of each session in the list, and their order. */
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
