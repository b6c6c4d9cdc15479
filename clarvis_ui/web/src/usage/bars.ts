import type { UsageRow } from '../api/usage';

/** One bar of a plot: where it stands and how tall it is, from 0 to 1. */
export interface Bar {
  used: UsageRow;
  share: number;
}

// one day alone would be a wall and not a bar
const MIN_BARS = 14;

/** What a plot shows: days, or weeks where there are more days than it has room for. */
export interface Spans {
  step: 'day' | 'week';
  rows: UsageRow[];
}

/** All of the time from the first to the last, in as many bars as there is room for. */
export function overTime(rows: readonly UsageRow[], most: number): Spans {
  const days = daily(rows, most);
  const first = rows.find((row) => row.key !== '')?.key;
  const firstShown = days[0]?.key;
  if (!first || !firstShown || first >= firstShown) return { step: 'day', rows: days };
  return { step: 'week', rows: weekly(rows, most) };
}

/** The same by weeks, each named by its Monday. */
function weekly(rows: readonly UsageRow[], most: number): UsageRow[] {
  const weeks = new Map<string, UsageRow>();
  for (const row of rows) {
    if (row.key === '') continue;
    const key = mondayOf(row.key);
    const week = weeks.get(key) ?? nothing(key);
    weeks.set(key, {
      ...week,
      input: week.input + row.input,
      output: week.output + row.output,
      cacheRead: week.cacheRead + row.cacheRead,
      cacheWrite: week.cacheWrite + row.cacheWrite,
      costUsd: week.costUsd + row.costUsd,
    });
  }
  const keys = [...weeks.keys()].sort();
  const [first, last] = [keys[0], keys.at(-1)];
  const bars: UsageRow[] = [];
  for (let week = last; first && week && week >= first && bars.length < most; ) {
    bars.unshift(weeks.get(week) ?? nothing(week));
    week = moved(week, -7);
  }
  return bars;
}

function mondayOf(day: string): string {
  const weekday = new Date(`${day}T12:00:00Z`).getUTCDay();
  return moved(day, -((weekday + 6) % 7));
}

/** Every day from the first to the last, also those on which nothing was used. */
export function daily(rows: readonly UsageRow[], most: number): UsageRow[] {
  const days = new Map(rows.filter((row) => row.key !== '').map((row) => [row.key, row]));
  const first = rows.find((row) => row.key !== '')?.key;
  const last = rows.at(-1)?.key;
  if (!first || !last) return [];
  const bars: UsageRow[] = [];
  // from the end: the newest days matter most
  for (
    let day = last;
    (day >= first || bars.length < MIN_BARS) && bars.length < most;
    day = moved(day, -1)
  ) {
    bars.unshift(days.get(day) ?? nothing(day));
  }
  return bars;
}

/** So many days later, by the calendar alone. */
function moved(day: string, by: number): string {
  const then = new Date(`${day}T12:00:00Z`);
  then.setUTCDate(then.getUTCDate() + by);
  return then.toISOString().slice(0, 10);
}

function nothing(key: string): UsageRow {
  return { key, label: key, input: 0, output: 0, cacheRead: 0, cacheWrite: 0, costUsd: 0 };
}

/** Heights in proportion to the cost; without any prices, to the output tokens. */
export function bars(rows: readonly UsageRow[]): Bar[] {
  const priced = rows.some((row) => row.costUsd > 0);
  const size = (row: UsageRow): number => (priced ? row.costUsd : row.output);
  const tallest = Math.max(0, ...rows.map(size));
  return rows.map((used) => ({ used, share: tallest > 0 ? size(used) / tallest : 0 }));
}
