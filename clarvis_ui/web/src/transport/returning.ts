/** Where a session stands, as the wire contract has it. */

import { each, fields, number, oneOf, text, verbatim } from './reading';

/** How much one wants to be told when one comes back. */
export const TELLINGS = ['detailed', 'quick', 'dive'] as const;
export type Telling = (typeof TELLINGS)[number];

const KINDS = ['working', 'answer', 'reply', 'continue', 'start', 'done'] as const;

export interface NextAction {
  kind: (typeof KINDS)[number];
  text: string;
  /** What to say to Claude; null where it is for the person to say. */
  prompt: string | null;
}

export interface Decision {
  kind: string;
  about: string;
  decision: string;
  reason: string | null;
}

export interface ChangedFile {
  path: string;
  edits: number;
}

export interface Standing {
  idleSeconds: number;
  next: NextAction;
  lastPrompt: string | null;
  lastReply: string | null;
  items: number;
  done: number;
  percent: number;
  open: string[];
  missing: string[];
  decisions: Decision[];
  files: ChangedFile[];
  filesChanged: number;
  commands: number;
  resumeTokens: number | null;
  resumeUsd: number | null;
  warnings: string[];
  /** Whether the directory it worked in is no more. */
  gone: boolean;
  /** Whether there is a reason to begin anew. */
  fresh: boolean;
  complete: boolean;
  quick: string;
}

export interface Retold {
  quick: string;
  next: string;
  detailed: string;
}

function readNext(raw: unknown): NextAction {
  const given = fields(raw) ?? {};
  return {
    kind: oneOf(KINDS, given.kind) ?? 'done',
    text: verbatim(given.text),
    prompt: text(given.prompt),
  };
}

export function readDecision(raw: unknown): Decision | null {
  const given = fields(raw);
  const about = given && text(given.about);
  if (!given || !about) return null;
  return {
    kind: verbatim(given.kind),
    about,
    decision: verbatim(given.decision),
    reason: text(given.reason),
  };
}

function readFile(raw: unknown): ChangedFile | null {
  const given = fields(raw);
  const path = given && text(given.path);
  return given && path ? { path, edits: number(given.edits) ?? 1 } : null;
}

function readOpen(raw: unknown): string | null {
  const given = fields(raw);
  return given && given.state !== 'completed' ? text(given.text) : null;
}

function readMissing(raw: unknown): string[] {
  const given = fields(raw);
  return each(given?.missing, text).map((one) => `${verbatim(given?.name)}: ${one}`);
}

export function readStanding(raw: unknown): Standing | null {
  const given = fields(raw);
  if (!given) return null;
  const last = fields(Array.isArray(given.turns) ? given.turns.at(-1) : null);
  const progress = fields(given.progress);
  const work = fields(given.work);
  const cost = fields(given.cost);
  return {
    idleSeconds: number(given.idleSeconds) ?? 0,
    next: readNext(given.next),
    lastPrompt: text(last?.prompt),
    lastReply: text(last?.reply),
    items: number(progress?.items) ?? 0,
    done: number(progress?.done) ?? 0,
    percent: number(progress?.percent) ?? 0,
    open: each(progress?.tasks, readOpen),
    missing: each(fields(given.coverage)?.categories, readMissing).flat(),
    decisions: each(given.decisions, readDecision),
    files: each(work?.files, readFile),
    filesChanged: number(work?.filesChanged) ?? 0,
    commands: number(work?.commands) ?? 0,
    resumeTokens: number(cost?.resumeTokens),
    resumeUsd: number(cost?.resumeUsd),
    warnings: each(given.warnings, (one) => text(fields(one)?.message)),
    gone: each(given.warnings, (one) => text(fields(one)?.code)).includes('directory_gone'),
    fresh: Array.isArray(given.choices) && given.choices.includes('fresh'),
    complete: given.complete === true,
    quick: verbatim(fields(given.recap)?.quick),
  };
}

export function readRetold(raw: unknown): Retold | null {
  const given = fields(raw);
  const quick = given && text(given.quick);
  if (!given || !quick) return null;
  return { quick, next: verbatim(given.next), detailed: verbatim(given.detailed) };
}

/** What was chosen, in whichever browser; null where nobody chose yet. */
export function readTelling(raw: unknown): { telling: Telling | null } | null {
  const given = fields(raw);
  return given && { telling: oneOf(TELLINGS, given.recap) };
}
