/**
 * How raw answers are read: forgiving. A field that is missing or of another type becomes null, so
 * that a keeper of another version costs a detail and not the page. The types of the contract hold
 * the readers: a field that the contract does not have, or has as another type, does not compile.
 */

declare const contract: unique symbol;

/** A value as it came: the contract says that it is a T, and nothing has checked it yet. */
export interface Raw<T> {
  readonly [contract]: T;
}

export type Fields = Readonly<Record<string, unknown>>;
type RawFields<T> = { readonly [Name in keyof T]?: Raw<Exclude<T[Name], null | undefined>> };
/** What the contract says of a raw value; unknown where it says nothing. */
type Promised<R> = [R] extends [Raw<infer T> | undefined] ? T : unknown;
type FieldsOf<R> = unknown extends Promised<R> ? Fields : RawFields<Promised<R>>;
type ItemOf<R> = Promised<R> extends readonly (infer Item)[] ? Raw<Item> : unknown;
/** Never for a raw value that is no T by the contract. */
type ReadAs<R, T> = unknown extends Promised<R> ? unknown : Promised<R> extends T ? unknown : never;

export function fields<R>(raw: R): FieldsOf<R> | null {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw)
    ? (raw as unknown as FieldsOf<R>)
    : null;
}

/** The fields of what the contract calls a T. */
export function fieldsOf<T>(raw: unknown): RawFields<T> | null {
  return fields(raw) as RawFields<T> | null;
}

export function text<R>(raw: R & ReadAs<R, string>): string | null {
  return typeof raw === 'string' && raw !== '' ? raw : null;
}

/** A string as it is, also an empty one. */
export function verbatim<R>(raw: R & ReadAs<R, string>): string {
  return typeof raw === 'string' ? raw : '';
}

export function number<R>(raw: R & ReadAs<R, number>): number | null {
  return typeof raw === 'number' && Number.isFinite(raw) ? raw : null;
}

export function count<R>(raw: R & ReadAs<R, number>): number {
  return number<unknown>(raw) ?? 0;
}

export function flag<R>(raw: R & ReadAs<R, boolean>, missing = false): boolean {
  return typeof raw === 'boolean' ? raw : missing;
}

/** One of these words, which are all that the contract has there. */
export function oneOf<T extends string, R>(
  words: readonly T[],
  raw: R & ReadAs<R, NoInfer<T>>,
): T | null {
  return words.find((word) => word === raw) ?? null;
}

/** Those of a list that could be read. */
export function each<T, R>(
  raw: R & ReadAs<R, readonly unknown[]>,
  read: (one: ItemOf<R>) => T | null,
): T[] {
  return Array.isArray(raw) ? raw.map(read).filter((one) => one !== null) : [];
}

/** What a decoder makes of a value that it can read. */
export type Decoded<Reader extends (raw: never) => unknown> = NonNullable<ReturnType<Reader>>;
