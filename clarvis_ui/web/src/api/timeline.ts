/** What was done when, as the wire contract has it. */

import { each, fields, number, oneOf, text, verbatim } from './decode';

/** Of what, and which part of it is looked at closely; without a session or directory: all. */
export interface Looked {
  session: string | null;
  workdir: string | null;
  span: Span | null;
}

/** From the first of two days or hours (`2026-03-01T10`) up to the second, without that one. */
export interface Span {
  from: string;
  to: string;
}

export interface Done {
  prompts: number;
  tools: number;
  edits: number;
  compactions: number;
  output: number;
  costUsd: number;
}

export interface Bucket extends Done {
  start: string;
}

export interface Said {
  sessionId: string;
  uuid: string;
  at: string | null;
  text: string;
  title: string | null;
}

export const STEPS = ['hour', 'day'] as const;

export interface Timeline {
  by: (typeof STEPS)[number];
  zone: string;
  total: Done;
  buckets: Bucket[];
  prompts: Said[];
  /** Whether every line has been read by now. */
  complete: boolean;
  /** How much of the project's checklist was covered, whenever that became more. */
  completion: Completion[];
}

/** `start` is a day or an hour, or empty for what is marked in the checklist itself. */
export interface Completion {
  start: string;
  percent: number;
}

function readDone(raw: unknown): Done {
  const given = fields(raw);
  return {
    prompts: number(given?.prompts) ?? 0,
    tools: number(given?.tools) ?? 0,
    edits: number(given?.edits) ?? 0,
    compactions: number(given?.compactions) ?? 0,
    output: number(given?.output) ?? 0,
    costUsd: number(given?.costUsd) ?? 0,
  };
}

const MOMENT = /^\d{4}-\d\d-\d\d(T\d\d)?$/;

/** A day or an hour; null for anything else, also for a day that no calendar has. */
export function readMoment(raw: unknown): string | null {
  const given = verbatim(raw);
  if (!MOMENT.test(given)) return null;
  const then = Date.parse(given.length === 10 ? `${given}T00:00Z` : `${given}:00Z`);
  return Number.isNaN(then) ? null : given;
}

function readBucket(raw: unknown): Bucket | null {
  const start = readMoment(fields(raw)?.start);
  return start === null ? null : { ...readDone(raw), start };
}

function readSaid(raw: unknown): Said | null {
  const given = fields(raw);
  const sessionId = text(given?.sessionId);
  const uuid = text(given?.uuid);
  if (!given || !sessionId || !uuid) return null;
  const { at, title } = given;
  return { sessionId, uuid, at: text(at), text: verbatim(given.text), title: text(title) };
}

function readCompletion(raw: unknown): Completion | null {
  const given = fields(raw);
  const start = given && (given.start === '' ? '' : readMoment(given.start));
  return given && start !== null ? { start, percent: number(given.percent) ?? 0 } : null;
}

export function readTimeline(raw: unknown): Timeline | null {
  const given = fields(raw);
  if (!given) return null;
  return {
    by: oneOf(STEPS, given.by) ?? 'day',
    zone: verbatim(given.zone),
    total: readDone(given.total),
    buckets: each(given.buckets, readBucket),
    prompts: each(given.prompts, readSaid),
    complete: given.complete === true,
    completion: each(given.completion, readCompletion),
  };
}

/** The same wish as parameters of the request: of a session, its address has the id. */
export function timelineQuery({ session, workdir, span }: Looked, prompts: number) {
  const query = new URLSearchParams({ limit: String(prompts) });
  if (session === null && workdir !== null) query.set('workdir', workdir);
  if (span !== null) {
    query.set('after', span.from);
    query.set('before', span.to);
  }
  return query;
}
