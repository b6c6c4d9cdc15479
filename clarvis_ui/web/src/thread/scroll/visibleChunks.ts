/** What of a long conversation is worth drawing now, and what can wait for the next frame. */

/** A bundle of rows as it stands, drawn or as an empty box. */
export interface ChunkBox {
  key: string;
  top: number;
  height: number;
  drawn: boolean;
}

export interface Viewport {
  top: number;
  height: number;
}

/** How far beyond the viewport chunks are rendered, in heights of the window. */
const MARGIN = 1.5;
/** So many are drawn in one frame: more would be felt. Those in sight come first. */
const IN_SIGHT_A_FRAME = 3;
const AHEAD_A_FRAME = 1;

export interface DrawnChunks {
  drawn: ReadonlySet<string>;
  /** Whether something near has still to be drawn. */
  waits: boolean;
}

/** Whether it is near enough to be drawn. */
export function isWithin(box: ChunkBox, viewport: Viewport): boolean {
  return distance(box, viewport) <= MARGIN * viewport.height;
}

/** Of the bundles within reach: all that are there already, and the next nearest to the view. */
export function chunksToDraw(boxes: readonly ChunkBox[], viewport: Viewport): DrawnChunks {
  const drawn = new Set<string>();
  const missing: { key: string; away: number }[] = [];
  for (const box of boxes) {
    if (box.drawn) drawn.add(box.key);
    else missing.push({ key: box.key, away: distance(box, viewport) });
  }
  missing.sort((one, other) => one.away - other.away);
  const inSight = missing.filter(({ away }) => away <= 0).length;
  const now = Math.max(AHEAD_A_FRAME, Math.min(IN_SIGHT_A_FRAME, inSight));
  for (const { key } of missing.slice(0, now)) drawn.add(key);
  return { drawn, waits: missing.length > now };
}

/** The distance of a box from the viewport; zero or negative inside it. */
function distance(box: ChunkBox, { top, height }: Viewport): number {
  return Math.max(box.top - (top + height), top - (box.top + box.height));
}
