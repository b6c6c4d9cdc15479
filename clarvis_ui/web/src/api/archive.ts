/** The archive: transcripts that Claude Code deletes, kept. */

import {
  count,
  type Decoded,
  each,
  fields,
  fieldsOf,
  flag,
  number,
  type Raw,
  text,
} from './decode';
import type * as Wire from './schema';

/** A session that Claude Code is about to delete. */
export type Due = Decoded<typeof readDue>;
export type Archive = Decoded<typeof readArchive>;

function readDue(raw: Raw<Wire.DueDeletion>) {
  const due = fields(raw);
  const sessionId = text(due?.sessionId);
  return due && sessionId ? { sessionId, at: text(due.at) } : null;
}

export function readArchive(raw: unknown) {
  const archive = fieldsOf<Wire.ArchiveStatus>(raw);
  if (!archive) return null;
  const holds = fields(archive.holds);
  return {
    on: flag(archive.on),
    /** Clarvis leaves it out for who sees only a part of the machine. */
    holds: holds && {
      /** Sessions that live and are kept, and deleted ones. */
      kept: count(holds.kept),
      gone: count(holds.gone),
      /** Bytes that it takes beside what Claude Code has itself. */
      cost: count(holds.cost),
    },
    /** After how many days Claude Code deletes. */
    days: number(archive.days),
    due: each(archive.due, readDue),
  };
}
