/** What was done when: by day or hour, of a session, a directory or all. */

import {
  count,
  type Decoded,
  each,
  fields,
  fieldsOf,
  flag,
  oneOf,
  type Raw,
  text,
  verbatim,
} from './decode';
import type * as Wire from './schema';

/** Of what, and which part of it is looked at closely; without a session or directory: all. */
export interface TimelineQuery {
  session: string | null;
  workdir: string | null;
  span: Span | null;
}

/** From the first of two days or hours (`2026-03-01T10`) up to the second, without that one. */
export interface Span {
  from: string;
  to: string;
}

export type Done = Decoded<typeof readDone>;
export type Bucket = Decoded<typeof readBucket>;
export type PromptLine = Decoded<typeof readPromptLine>;
export type Timeline = Decoded<typeof readTimeline>;
export type Completion = Decoded<typeof readCompletion>;

export const STEPS = ['hour', 'day'] as const;

function readDone(raw: Raw<Wire.BucketWork> | undefined) {
  const work = fields(raw);
  return {
    prompts: count(work?.prompts),
    tools: count(work?.tools),
    edits: count(work?.edits),
    compactions: count(work?.compactions),
    output: count(work?.output),
    costUsd: count(work?.costUsd),
  };
}

const MOMENT = /^\d{4}-\d\d-\d\d(T\d\d)?$/;

/** A day or an hour; null for anything else, also for a day that no calendar has. */
export function readMoment(raw: unknown): string | null {
  const moment = verbatim(raw);
  if (!MOMENT.test(moment)) return null;
  const time = Date.parse(moment.length === 10 ? `${moment}T00:00Z` : `${moment}:00Z`);
  return Number.isNaN(time) ? null : moment;
}

function readBucket(raw: Raw<Wire.TimelineBucket>) {
  const start = readMoment(fields(raw)?.start);
  return start === null ? null : { ...readDone(raw), start };
}

function readPromptLine(raw: Raw<Wire.PromptLine>) {
  const line = fields(raw);
  const sessionId = text(line?.sessionId);
  const uuid = text(line?.uuid);
  if (!line || !sessionId || !uuid) return null;
  return { sessionId, uuid, at: text(line.at), text: verbatim(line.text), title: text(line.title) };
}

/** `start` is a day or an hour, or empty for what is marked in the checklist itself. */
function readCompletion(raw: Raw<Wire.CompletionPoint>) {
  const point = fields(raw);
  const start = (point?.start as unknown) === '' ? '' : readMoment(point?.start);
  return point && start !== null ? { start, percent: count(point.percent) } : null;
}

export function readTimeline(raw: unknown) {
  const timeline = fieldsOf<Wire.Timeline>(raw);
  return (
    timeline && {
      by: oneOf(STEPS, timeline.by) ?? ('day' as const),
      zone: verbatim(timeline.zone),
      total: readDone(timeline.total),
      buckets: each(timeline.buckets, readBucket),
      prompts: each(timeline.prompts, readPromptLine),
      /** Whether every line has been read by now. */
      complete: flag(timeline.complete),
      /** How much of the project's checklist was covered, whenever that became more. */
      completion: each(timeline.completion, readCompletion),
    }
  );
}

/** The parameters of the request; the address of a session has its id already. */
export function timelineQuery({ session, workdir, span }: TimelineQuery, prompts: number) {
  const query = new URLSearchParams({ limit: String(prompts) });
  if (session === null && workdir !== null) query.set('workdir', workdir);
  if (span !== null) {
    query.set('after', span.from);
    query.set('before', span.to);
  }
  return query;
}
