import type { Used } from '../transport/usage';

/** One bar of a plot: where it stands and how tall it is, from 0 to 1. */
export interface Bar {
  used: Used;
  share: number;
}

// one day alone would be a wall and not a bar
const FEWEST = 14;

/** Every day from the first to the last, also those on which nothing was used. */
export function daily(rows: readonly Used[], most: number): Used[] {
  const days = new Map(rows.filter((row) => row.key !== '').map((row) => [row.key, row]));
  const first = rows.find((row) => row.key !== '')?.key;
  const last = rows.at(-1)?.key;
  if (!first || !last) return [];
  const found: Used[] = [];
  // counted from the end: the newest are what one wants to see
  for (
    let day = last;
    (day >= first || found.length < FEWEST) && found.length < most;
    day = before(day)
  ) {
    found.unshift(days.get(day) ?? nothing(day));
  }
  return found;
}

/** The day before, by the calendar alone. */
function before(day: string): string {
  const then = new Date(`${day}T12:00:00Z`);
  then.setUTCDate(then.getUTCDate() - 1);
  return then.toISOString().slice(0, 10);
}

function nothing(key: string): Used {
  return { key, label: key, input: 0, output: 0, cacheRead: 0, cacheWrite: 0, costUsd: 0 };
}

/** Heights in proportion to the cost; where nothing has a price, to what was said. */
export function bars(rows: readonly Used[]): Bar[] {
  const priced = rows.some((row) => row.costUsd > 0);
  const size = (row: Used): number => (priced ? row.costUsd : row.output);
  const tallest = Math.max(0, ...rows.map(size));
  return rows.map((used) => ({ used, share: tallest > 0 ? size(used) / tallest : 0 }));
}
