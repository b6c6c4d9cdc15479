/** What is kept of what Claude Code deletes, as the wire contract has it. */

import { each, fields, number, text } from './decode';

/** A session that Claude Code is about to delete. */
export interface Due {
  sessionId: string;
  at: string | null;
}

export interface Archive {
  on: boolean;
  /** How much of the whole machine it holds; not told to who sees only a part of it. */
  holds: {
    /** Sessions that live and are kept, and deleted ones. */
    kept: number;
    gone: number;
    /** Bytes that it takes beside what Claude Code has itself. */
    cost: number;
  } | null;
  /** After how many days Claude Code deletes. */
  days: number | null;
  due: Due[];
}

function readDue(raw: unknown): Due | null {
  const given = fields(raw);
  const sessionId = given && text(given.sessionId);
  return given && sessionId ? { sessionId, at: text(given.at) } : null;
}

export function readArchive(raw: unknown): Archive | null {
  const given = fields(raw);
  if (!given) return null;
  const holds = fields(given.holds);
  return {
    on: given.on === true,
    holds: holds && {
      kept: number(holds.kept) ?? 0,
      gone: number(holds.gone) ?? 0,
      cost: number(holds.cost) ?? 0,
    },
    days: number(given.days),
    due: each(given.due, readDue),
  };
}
