/** The resume report: where a session stands. */

import {
  count,
  type Decoded,
  each,
  fields,
  fieldsOf,
  flag,
  number,
  oneOf,
  type Raw,
  text,
  verbatim,
} from './decode';
import type * as Wire from './schema';

/** How much one wants to be told when one comes back. */
export const RECAP_LEVELS = ['detailed', 'quick', 'dive'] as const;
export type RecapLevel = (typeof RECAP_LEVELS)[number];

/** `complete`: nothing of what was listed is left to be done; `givenUp`: the person said so. */
export const OUTCOMES = ['complete', 'givenUp'] as const;
export type SessionOutcome = (typeof OUTCOMES)[number];

export const STATUSES = ['complete', 'in_progress', 'not_started'] as const;
const KINDS = ['working', 'answer', 'reply', 'continue', 'start', 'done'] as const;

export type NextAction = Decoded<typeof readNext>;
/** Of any kind: a later keeper may have others. */
export type Decision = Omit<Wire.Decision, 'kind'> & { kind: string };
export type ChangedFile = Decoded<typeof readFile>;
export type Turn = Decoded<typeof readTurn>;
/** So much of a group of tasks is done. */
export type Share = Decoded<typeof readShare>;
/** Words, and when they were said. */
export type KeyPoint = Decoded<typeof readKeyPoint>;
/** A category of the checklist. */
export type Category = Decoded<typeof readCategory>;
/** What to talk about next. */
export type Topic = Decoded<typeof readTopic>;
export type Coverage = Decoded<typeof readCoverage>;
/** The specification of a project: a file below its directory. */
export type Specification = Decoded<typeof readSpecification>;
/** The report, flat: the page asks for its parts one by one. */
export type ResumeReport = Decoded<typeof readResumeReport>;
export type AiRecap = Decoded<typeof readAiRecap>;

function readNext(raw: Raw<Wire.NextAction> | undefined) {
  const next = fields(raw);
  return {
    kind: oneOf(KINDS, next?.kind) ?? ('done' as const),
    text: verbatim(next?.text),
    /** What to say to Claude; null where it is for the person to say. */
    prompt: text(next?.prompt),
  };
}

export function readDecision(raw: unknown): Decision | null {
  const decision = fieldsOf<Wire.Decision>(raw);
  const about = text(decision?.about);
  if (!decision || !about) return null;
  return {
    kind: verbatim(decision.kind),
    about,
    decision: verbatim(decision.decision),
    reason: text(decision.reason),
    /** The message in which it was decided, and when. */
    uuid: text(decision.uuid),
    at: text(decision.at),
  };
}

function readFile(raw: Raw<Wire.ChangedFile>) {
  const file = fields(raw);
  const path = text(file?.path);
  return file && path ? { path, edits: number(file.edits) ?? 1 } : null;
}

function readOpenTask(raw: Raw<Wire.ProgressItem>): string | null {
  const task = fields(raw);
  return task && text(task.state) !== 'completed' ? text(task.text) : null;
}

function readWarning(raw: Raw<Wire.ResumeWarning>) {
  const warning = fields(raw);
  const message = text(warning?.message);
  return warning && message ? { code: text(warning.code), message } : null;
}

function readTurn(raw: Raw<Wire.LastTurn>) {
  const turn = fields(raw);
  return (
    turn && {
      prompt: text(turn.prompt),
      reply: text(turn.reply),
      tools: count(turn.tools),
      /** All of it was read; otherwise there are more calls, and maybe a reply. */
      whole: flag(turn.whole, true),
    }
  );
}

function readShare(raw: Raw<Pick<Wire.ProgressPart, 'name' | 'items' | 'done'>>) {
  const part = fields(raw);
  const name = text(part?.name);
  return part && name ? { name, items: count(part.items), done: count(part.done) } : null;
}

function readKeyPoint(raw: Raw<Wire.KeyPoint> | undefined) {
  const point = fields(raw);
  const words = text(point?.text);
  return point && words ? { text: words, at: text(point.at) } : null;
}

function readCategory(raw: Raw<Wire.CategoryCoverage>) {
  const category = fields(raw);
  const share = readShare(raw);
  if (!category || !share) return null;
  return {
    ...share,
    percent: count(category.percent),
    status: oneOf(STATUSES, category.status) ?? ('not_started' as const),
    /** From 0 to 1, over what is covered; null where nothing is. */
    confidence: number(category.confidence),
    missing: each(category.missing, text),
    /** What the person said of it. */
    keyPoints: each(category.keyPoints, readKeyPoint),
    /** The last question that Claude put. */
    asked: readKeyPoint(category.asked),
    /** When the person spoke of it last. */
    discussed: text(category.discussed),
  };
}

function readTopic(raw: Raw<Wire.NextTopic> | undefined) {
  const topic = fields(raw);
  const category = text(topic?.category);
  if (!topic || !category) return null;
  return { category, item: verbatim(topic.item), prompt: verbatim(topic.prompt) };
}

function readCoverage(raw: Raw<Wire.Coverage> | undefined) {
  const coverage = fields(raw);
  return (
    coverage && {
      items: count(coverage.items),
      done: count(coverage.done),
      percent: count(coverage.percent),
      /** From 0 to 100. */
      readiness: count(coverage.readiness),
      /** Whether every category is. */
      complete: flag(coverage.complete),
      categories: each(coverage.categories, readCategory),
      next: readTopic(coverage.next),
      /** False while the session is still being read. */
      read: flag(coverage.read, true),
      /** Why the project's coverage-checklist.yml tells nothing. */
      problem: text(coverage.error),
    }
  );
}

export function readSpecification(raw: unknown) {
  const specification = fieldsOf<Wire.Specification>(raw);
  const path = text(specification?.path);
  if (!specification || !path) return null;
  return {
    path,
    text: verbatim(specification.text),
    modified: text(specification.modified),
    /** It is longer than this. */
    cut: flag(specification.cut),
  };
}

export function readResumeReport(raw: unknown) {
  const report = fieldsOf<Wire.ResumeReport>(raw);
  if (!report) return null;
  const progress = fields(report.progress);
  const work = fields(report.work);
  const cost = fields(report.cost);
  const warnings = each(report.warnings, readWarning);
  return {
    idleSeconds: count(report.idleSeconds),
    next: readNext(report.next),
    turns: each(report.turns, readTurn),
    items: count(progress?.items),
    done: count(progress?.done),
    percent: count(progress?.percent),
    groups: each(progress?.groups, readShare),
    open: each(progress?.tasks, readOpenTask),
    coverage: readCoverage(report.coverage),
    decisions: each(report.decisions, readDecision),
    files: each(work?.files, readFile),
    filesChanged: count(work?.filesChanged),
    commands: count(work?.commands),
    commandsFailed: count(work?.commandsFailed),
    lastCommands: each(work?.lastCommands, text),
    resumeTokens: number(cost?.resumeTokens),
    resumeUsd: number(cost?.resumeUsd),
    warnings: warnings.map(({ message }) => message),
    /** Whether the directory it worked in is no more. */
    gone: warnings.some(({ code }) => code === 'directory_gone'),
    /** Whether there is a reason to begin anew. */
    fresh: each(report.choices, text).includes('fresh'),
    complete: flag(report.complete),
    outcome: oneOf(OUTCOMES, report.outcome),
    /** The file of the specification, if it is written. */
    specification: text(report.specification),
    quick: verbatim(fields(report.recap)?.quick),
  };
}

export function readAiRecap(raw: unknown) {
  const recap = fieldsOf<Wire.AiRecapBody>(raw);
  const quick = text(recap?.quick);
  if (!recap || !quick) return null;
  return { quick, next: verbatim(recap.next), detailed: verbatim(recap.detailed) };
}

/** What was chosen, in whichever browser; null where nobody chose yet. */
export function readRecapPreference(raw: unknown): { level: RecapLevel | null } | null {
  const preferences = fieldsOf<Wire.PreferencesBody>(raw);
  return preferences && { level: oneOf(RECAP_LEVELS, preferences.recap) };
}
