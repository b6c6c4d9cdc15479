/**
 * How raw answers are read: forgiving. A field that is missing or of another type becomes null, so
 * that a keeper of another version costs a detail and not the page.
 */

export type Fields = Readonly<Record<string, unknown>>;

export function fields(raw: unknown): Fields | null {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw) ? (raw as Fields) : null;
}

export function text(raw: unknown): string | null {
  return typeof raw === 'string' && raw !== '' ? raw : null;
}

/** A string as it is, also an empty one. */
export function verbatim(raw: unknown): string {
  return typeof raw === 'string' ? raw : '';
}

export function number(raw: unknown): number | null {
  return typeof raw === 'number' && Number.isFinite(raw) ? raw : null;
}

export function oneOf<T extends string>(known: readonly T[], raw: unknown): T | null {
  return known.find((word) => word === raw) ?? null;
}

/** Those of a list that could be read. */
export function each<T>(raw: unknown, read: (one: unknown) => T | null): T[] {
  return Array.isArray(raw) ? raw.map(read).filter((one) => one !== null) : [];
}
