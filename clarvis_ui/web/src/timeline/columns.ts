import type { Bucket, Completion, Done, Span, Timeline } from '../api/timeline';
import { count, counted, money, roughly } from '../lib/format';

/** The length of time of one column. */
export type Step = 'hour' | 'day' | 'week' | 'month';

/** One column of the plot: the actions in that time, perhaps none. */
export interface Column extends Span {
  step: Step;
  name: string;
  done: Done;
  /** How much of the project's checklist was covered by its end; null where there is none. */
  covered: number | null;
}

// as many as can still be told apart, and hit with a finger, on a phone
export const MAX_COLUMNS = 62;
// a few columns alone would be too wide for bars
const MIN_COLUMNS = 14;

const NOTHING: Done = { prompts: 0, tools: 0, edits: 0, compactions: 0, output: 0, costUsd: 0 };

type DrawnTimeline = Pick<Timeline, 'buckets' | 'by'> & Partial<Pick<Timeline, 'completion'>>;

/** Every hour, day, week or month from the first to the last, also those without anything. */
export function columnsOf(timeline: DrawnTimeline): Column[] {
  const { buckets, by, completion = [] } = timeline;
  const steps: readonly Step[] = by === 'hour' ? ['hour', 'day'] : ['day', 'week', 'month'];
  for (const step of steps) {
    const columns = inSteps(buckets, step, true);
    if (columns !== null) return withCompletion(columns, completion);
  }
  // one entry may be years off because of a wrong clock: empty columns are left out
  return withCompletion(inSteps(buckets, 'month', false) ?? [], completion);
}

/** Coverage carries over into the columns that follow. */
function withCompletion(columns: Column[], completion: readonly Completion[]): Column[] {
  if (completion.length === 0) return columns;
  return columns.map((one) => {
    const until = completion.findLast(({ start }) => start < one.to);
    return { ...one, covered: until?.percent ?? 0 };
  });
}

/** Null where these would be too many. */
function inSteps(buckets: readonly Bucket[], step: Step, whole: boolean): Column[] | null {
  const byStart = new Map<string, Done>();
  for (const bucket of buckets) {
    const from = floor(bucket.start, step);
    byStart.set(from, sum(byStart.get(from) ?? NOTHING, bucket));
  }
  const starts = [...byStart.keys()].sort();
  const [first, last] = [starts[0], starts.at(-1)];
  if (first === undefined || last === undefined) return [];
  if (!whole)
    return starts.slice(-MAX_COLUMNS).map((from) => column(from, step, byStart.get(from)));
  const columns: Column[] = [];
  // counted from the end: the newest are what one wants to see
  for (
    let from = last;
    from >= first || columns.length < MIN_COLUMNS;
    from = move(from, step, -1)
  ) {
    columns.unshift(column(from, step, byStart.get(from)));
    if (columns.length > MAX_COLUMNS) return null;
  }
  return columns;
}

function column(from: string, step: Step, done: Done = NOTHING): Column {
  const to = move(from, step, 1);
  return { from, to, step, name: nameOf(from, step), done, covered: null };
}

function sum(one: Done, other: Done): Done {
  return {
    prompts: one.prompts + other.prompts,
    tools: one.tools + other.tools,
    edits: one.edits + other.edits,
    compactions: one.compactions + other.compactions,
    output: one.output + other.output,
    costUsd: one.costUsd + other.costUsd,
  };
}

// ---- the calendar: words like 2026-03-01T10, of whatever zone, reckoned as if in UTC ----

function dateOf(moment: string): Date {
  return new Date(moment.length === 10 ? `${moment}T00:00Z` : `${moment}:00Z`);
}

function momentOf(date: Date, step: Step): string {
  return date.toISOString().slice(0, step === 'hour' ? 13 : 10);
}

/** The beginning of the hour, day, week (from Monday) or month in which it lies. */
function floor(moment: string, step: Step): string {
  const date = dateOf(moment);
  if (step === 'week') date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  if (step === 'month') date.setUTCDate(1);
  return momentOf(date, step);
}

function move(moment: string, step: Step, by: number): string {
  const date = dateOf(moment);
  if (step === 'hour') date.setUTCHours(date.getUTCHours() + by);
  else if (step === 'month') date.setUTCMonth(date.getUTCMonth() + by);
  else date.setUTCDate(date.getUTCDate() + by * (step === 'week' ? 7 : 1));
  return momentOf(date, step);
}

const names = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options });
const WEEKDAY = names({ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' });
const DAY = names({ day: 'numeric', month: 'short', year: 'numeric' });
const MONTH = names({ month: 'long', year: 'numeric' });
const SHORT = names({ day: 'numeric', month: 'short' });

function nameOf(from: string, step: Step): string {
  const date = dateOf(from);
  switch (step) {
    case 'hour':
      return `${WEEKDAY.format(date)}, ${from.slice(11)}:00`;
    case 'day':
      return WEEKDAY.format(date);
    case 'week':
      return `Week of ${DAY.format(date)}`;
    case 'month':
      return MONTH.format(date);
  }
}

/** The label below a column, as short as possible. */
export function shortName({ from, step }: Column): string {
  if (step === 'hour') return `${SHORT.format(dateOf(from))}, ${from.slice(11)}:00`;
  // weeks are shown where days would be too many: the years may differ
  return { day: SHORT, week: DAY, month: MONTH }[step].format(dateOf(from));
}

// ---- the plot ----

/** One row of the plot: a kind of action, and how tall its bar is in every column, from 0 to 1. */
export interface Lane {
  key: keyof Done | 'covered';
  label: string;
  total: string;
  shares: number[];
}

const LANES: readonly (readonly [keyof Done, string, (amount: number) => string])[] = [
  ['prompts', 'Prompts', count],
  ['tools', 'Tools', count],
  ['edits', 'Edits', count],
  ['compactions', 'Compactions', count],
  ['costUsd', 'Cost', money],
  ['output', 'Tokens written', roughly],
];

/** The lanes with any action; heights are relative to the lane's maximum. */
export function lanesOf(columns: readonly Column[]): Lane[] {
  // where nothing has a price, what was written is the measure
  const priced = columns.some(({ done }) => done.costUsd > 0);
  const lanes = LANES.flatMap(([key, label, words]) => {
    if (key === 'output' && priced) return [];
    const amounts = columns.map(({ done }) => done[key]);
    const most = Math.max(0, ...amounts);
    if (most <= 0) return [];
    const total = words(amounts.reduce((one, other) => one + other, 0));
    return { key, label, total, shares: amounts.map((amount) => amount / most) };
  });
  return [...lanes, ...completionLane(columns)];
}

/** The lane of the checklist's coverage; heights are relative to the whole checklist. */
function completionLane(columns: readonly Column[]): Lane[] {
  const last = columns.at(-1)?.covered ?? null;
  if (last === null) return [];
  const shares = columns.map(({ covered }) => (covered ?? 0) / 100);
  return [{ key: 'covered', label: 'Checklist covered', total: `${last} %`, shares }];
}

/** The index of the selected column: the chosen one, or the last with any action. */
export function chosenAt(columns: readonly Column[], span: Span | null): number {
  if (span !== null) {
    const at = columns.findIndex(({ from, to }) => from <= span.from && span.from < to);
    if (at >= 0) return at;
  }
  return columns.findLastIndex(({ done }) => !isNothing(done));
}

export function isNothing(done: Done): boolean {
  return LANES.every(([key]) => done[key] === 0);
}

/** What was done in a column, and how far the checklist was by then. */
export function columnWords({ done, covered }: Pick<Column, 'done' | 'covered'>): string {
  if (covered === null) return doneWords(done);
  return `${doneWords(done)}; checklist ${covered}\u00a0% covered`;
}

/** "3 prompts, 12 tool calls, 2 edits, $0.40" */
export function doneWords(done: Done): string {
  const words = [
    done.prompts > 0 && counted(done.prompts, 'prompt'),
    done.tools > 0 && counted(done.tools, 'tool call'),
    done.edits > 0 && counted(done.edits, 'edit'),
    done.compactions > 0 && counted(done.compactions, 'compaction'),
    done.costUsd > 0 && money(done.costUsd),
  ].filter((each) => each !== false);
  // a number stays with its noun
  return words.map((each) => each.replace(' ', '\u00a0')).join(', ') || 'nothing';
}
