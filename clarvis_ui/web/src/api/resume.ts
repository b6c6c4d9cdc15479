/** Where a session stands, as the wire contract has it. */

import { each, fields, number, oneOf, text, verbatim } from './decode';

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
  /** The message in which it was decided, and when. */
  uuid?: string | null;
  at?: string | null;
}

export interface ChangedFile {
  path: string;
  edits: number;
}

export interface Turn {
  prompt: string | null;
  reply: string | null;
  tools: number;
  /** All of it was read; otherwise there are more calls, and maybe a reply. */
  whole: boolean;
}

/** So much of a group of tasks is done. */
export interface Share {
  name: string;
  items: number;
  done: number;
}

/** Words, and when they were said. */
export interface Said {
  text: string;
  at: string | null;
}

export const STATUSES = ['complete', 'in_progress', 'not_started'] as const;

/** A category of the checklist. */
export interface Category extends Share {
  percent: number;
  status: (typeof STATUSES)[number];
  /** From 0 to 1, over what is covered; null where nothing is. */
  confidence: number | null;
  missing: string[];
  /** What the person said of it. */
  keyPoints: Said[];
  /** The last question that Claude put. */
  asked: Said | null;
  /** When the person spoke of it last. */
  discussed: string | null;
}

/** What to talk about next. */
export interface Topic {
  category: string;
  item: string;
  prompt: string;
}

/** The project's coverage-checklist.yml; `problem` says why it tells nothing. */
export interface Coverage {
  items: number;
  done: number;
  percent: number;
  /** From 0 to 100. */
  readiness: number;
  /** Whether every category is. */
  complete: boolean;
  categories: Category[];
  next: Topic | null;
  /** False while the session is still being read. */
  read: boolean;
  problem: string | null;
}

/** `complete`: nothing of what was listed is left to be done; `givenUp`: the person said so. */
export const OUTCOMES = ['complete', 'givenUp'] as const;
export type SessionOutcome = (typeof OUTCOMES)[number];

/** The specification of a project: a file below its directory. `cut`: it is longer than this. */
export interface Specification {
  path: string;
  text: string;
  modified: string | null;
  cut: boolean;
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
  coverage: Coverage | null;
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
  outcome: SessionOutcome | null;
  /** The file of the specification, if it is written. */
  specification: string | null;
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
    uuid: text(given.uuid),
    at: text(given.at),
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
      whole: given.whole !== false,
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
  };
}

function readSaid(raw: unknown): Said | null {
  const given = fields(raw);
  const words = given && text(given.text);
  return given && words ? { text: words, at: text(given.at) } : null;
}

function readCategory(raw: unknown): Category | null {
  const given = fields(raw);
  const share = readShare(raw);
  if (!given || !share) return null;
  return {
    ...share,
    percent: number(given.percent) ?? 0,
    status: oneOf(STATUSES, given.status) ?? 'not_started',
    confidence: number(given.confidence),
    missing: each(given.missing, text),
    keyPoints: each(given.keyPoints, readSaid),
    asked: readSaid(given.asked),
    discussed: text(given.discussed),
  };
}

function readTopic(raw: unknown): Topic | null {
  const given = fields(raw);
  const category = given && text(given.category);
  if (!given || !category) return null;
  return { category, item: verbatim(given.item), prompt: verbatim(given.prompt) };
}

function readCoverage(raw: unknown): Coverage | null {
  const given = fields(raw);
  return (
    given && {
      items: number(given.items) ?? 0,
      done: number(given.done) ?? 0,
      percent: number(given.percent) ?? 0,
      readiness: number(given.readiness) ?? 0,
      complete: given.complete === true,
      categories: each(given.categories, readCategory),
      next: readTopic(given.next),
      read: given.read !== false,
      problem: text(given.error),
    }
  );
}

export function readSpecification(raw: unknown): Specification | null {
  const given = fields(raw);
  const path = given && text(given.path);
  if (!given || !path) return null;
  return {
    path,
    text: verbatim(given.text),
    modified: text(given.modified),
    cut: given.cut === true,
  };
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
    outcome: oneOf(OUTCOMES, given.outcome),
    specification: text(given.specification),
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
