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

export interface Turn {
  prompt: string | null;
  reply: string | null;
  tools: number;
}

/** So much of something is done: a group of tasks, a category of the checklist. */
export interface Share {
  name: string;
  items: number;
  done: number;
  missing: string[];
}

export interface Standing {
  idleSeconds: number;
  next: NextAction;
  turns: Turn[];
  items: number;
  done: number;
  percent: number;
  groups: Share[];
  open: string[];
  /** The project's coverage-checklist.yml; `problem` says why it tells nothing. */
  coverage: { items: number; done: number; categories: Share[]; problem: string | null } | null;
  decisions: Decision[];
  files: ChangedFile[];
  filesChanged: number;
  commands: number;
  commandsFailed: number;
  lastCommands: string[];
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

function readTurn(raw: unknown): Turn | null {
  const given = fields(raw);
  return (
    given && {
      prompt: text(given.prompt),
      reply: text(given.reply),
      tools: number(given.tools) ?? 0,
    }
  );
}

function readShare(raw: unknown): Share | null {
  const given = fields(raw);
  const name = given && text(given.name);
  if (!given || !name) return null;
  return {
    name,
    items: number(given.items) ?? 0,
    done: number(given.done) ?? 0,
    missing: each(given.missing, text),
  };
}

function readCoverage(raw: unknown): Standing['coverage'] {
  const given = fields(raw);
  return (
    given && {
      items: number(given.items) ?? 0,
      done: number(given.done) ?? 0,
      categories: each(given.categories, readShare),
      problem: text(given.error),
    }
  );
}

export function readStanding(raw: unknown): Standing | null {
  const given = fields(raw);
  if (!given) return null;
  const progress = fields(given.progress);
  const work = fields(given.work);
  const cost = fields(given.cost);
  return {
    idleSeconds: number(given.idleSeconds) ?? 0,
    next: readNext(given.next),
    turns: each(given.turns, readTurn),
    items: number(progress?.items) ?? 0,
    done: number(progress?.done) ?? 0,
    percent: number(progress?.percent) ?? 0,
    groups: each(progress?.groups, readShare),
    open: each(progress?.tasks, readOpen),
    coverage: readCoverage(given.coverage),
    decisions: each(given.decisions, readDecision),
    files: each(work?.files, readFile),
    filesChanged: number(work?.filesChanged) ?? 0,
    commands: number(work?.commands) ?? 0,
    commandsFailed: number(work?.commandsFailed) ?? 0,
    lastCommands: each(work?.lastCommands, text),
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
