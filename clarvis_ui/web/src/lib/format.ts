/** Numbers and times as people say them. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const WEEKDAY = new Intl.DateTimeFormat('en-GB', { weekday: 'short' });
const DAY_AND_MONTH = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const WHOLE_DATE = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
});
const DATE_AND_TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short' });
const WHOLE_NUMBER = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const SHORT_NUMBER = new Intl.NumberFormat('en-US', {
  notation: 'compact',
  maximumSignificantDigits: 3,
});
const CENTS = new Intl.NumberFormat('en-US', {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
});

/** Markdown in one line, without what is only there for the eye. */
export function withoutMarkdown(markdown: string): string {
  return markdown
    .replace(/^\s*```.*$/gm, '')
    .replace(/^\s*(?:#{1,6}|>)\s+/gm, '')
    .replace(/^\s*[-*+•]\s+/gm, '· ')
    .replace(/(\*\*|__|`)(\S.*?)\1/g, '$2')
    .replace(/\[([^\]\n]+)\]\([^)\s]+\)/g, '$1')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Relative until it is old: now, 4 m, 2 h, Mon, 12 Oct, 12 Oct 2024. */
export function relativeTime(iso: string | null, now: number): string {
  const then = iso === null ? Number.NaN : Date.parse(iso);
  if (Number.isNaN(then)) return '';
  const age = now - then;
  if (age < MINUTE) return 'now'; // a clock ahead of ours is no reason to talk of the future
  if (age < HOUR) return `${Math.floor(age / MINUTE)} m`;
  if (age < DAY) return `${Math.floor(age / HOUR)} h`;
  if (age < 6 * DAY) return WEEKDAY.format(then);
  const sameYear = new Date(then).getFullYear() === new Date(now).getFullYear();
  return (sameYear ? DAY_AND_MONTH : WHOLE_DATE).format(then);
}

export function fullTime(iso: string | null): string {
  const then = iso === null ? Number.NaN : Date.parse(iso);
  return Number.isNaN(then) ? '' : DATE_AND_TIME.format(then);
}

export function count(amount: number): string {
  return WHOLE_NUMBER.format(amount);
}

export function counted(amount: number, one: string, many = `${one}s`): string {
  return `${count(amount)} ${amount === 1 ? one : many}`;
}

/** 1.2K, 3.4M: for token counts, where the last digits say nothing. */
export function roughly(amount: number): string {
  return SHORT_NUMBER.format(amount);
}

const UNITS = ['kB', 'MB', 'GB', 'TB'] as const;

export function fileSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  let amount = bytes / 1000;
  let unit: (typeof UNITS)[number] = 'kB';
  for (const next of UNITS.slice(1)) {
    if (amount < 999.5) break;
    amount /= 1000;
    unit = next;
  }
  return `${amount < 9.95 ? amount.toFixed(1) : amount.toFixed(0)} ${unit}`;
}

export function money(usd: number): string {
  if (usd > 0 && usd < 0.01) return '<$0.01';
  return usd < 1000 ? `$${CENTS.format(usd)}` : `$${count(usd)}`;
}

/** A category's name as people write it: business_requirements, in words. */
export function spoken(name: string): string {
  return name.replaceAll('_', ' ').trim() || name;
}
