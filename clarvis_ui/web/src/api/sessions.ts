/** Sessions and the keeper's health, as the wire contract has them. */

import { each, fields, number, oneOf, text } from './decode';

export const STATES = ['idle', 'starting', 'running', 'waiting', 'error'] as const;
export type SessionState = (typeof STATES)[number];

export const ORIGINS = ['gateway', 'terminal'] as const;
export type Origin = (typeof ORIGINS)[number];

export interface Tokens {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

export const PRESENCE_STATUSES = ['busy', 'idle', 'waiting'] as const;

/** A Claude Code that somebody else runs: in a terminal, an editor or a script. */
export interface Presence {
  entrypoint: string;
  status: (typeof PRESENCE_STATUSES)[number];
  waitingFor: string | null;
  /** Since when it has this status. */
  since: string | null;
}

export interface Session {
  id: string;
  workdir: string | null;
  project: string | null;
  /** What the user called it; it wins over `title`. */
  name: string | null;
  title: string | null;
  firstPrompt: string | null;
  lastPrompt: string | null;
  /** Null while the background pass has not counted it yet. */
  messageCount: number | null;
  created: string | null;
  modified: string | null;
  gitBranch: string | null;
  size: number | null;
  model: string | null;
  /** Null where nothing runs that could have one. */
  permissionMode: string | null;
  state: SessionState;
  origin: Origin | null;
  /** How many questions wait for an answer. */
  attention: number;
  costUsd: number | null;
  tokens: Tokens | null;
  error: { code: string; message: string } | null;
  /** Lines of the transcript that could not be read. */
  unreadable: number;
  /** Where it runs, if somebody else runs it. */
  presence: Presence | null;
  /** Claude Code deleted it; the archive has it, and a message brings it back. */
  archived: boolean;
  archivedSince: string | null;
  /** The item of work whose conversation it is, or was. */
  item: WorkItem | null;
  systemPrompt: AppendedPrompt | null;
  /** How far it is, by its project's checklist or its own tasks; null where there are neither. */
  progress: Progress | null;
  /** When the person gave it up; null once something was said again. */
  givenUp: string | null;
}

/** What a person appended to Claude Code's own system prompt. */
export interface AppendedPrompt {
  /** 0: it was cleared. */
  characters: number;
  /** The process that runs was started with another one; the next one has this. */
  pending: boolean;
}

export const PROGRESS_OF = ['checklist', 'tasks'] as const;

export interface Progress {
  of: (typeof PROGRESS_OF)[number];
  items: number;
  done: number;
  percent: number;
  complete: boolean;
}

/** An item of work: its key is its own only within its project. */
export interface WorkItem {
  key: string;
  project: string | null;
}

export interface SessionsPage {
  sessions: Session[];
  cursor: string | null;
  /** Where in the keeper's stream this was true. */
  position: string | null;
}

/** How far the background pass is that reads every transcript once. */
export interface Scan {
  done: number;
  total: number;
}

export interface Health {
  version: string | null;
  sessions: number | null;
  scan: Scan | null;
}

function readTokens(raw: unknown): Tokens | null {
  const given = fields(raw);
  return (
    given && {
      input: number(given.input) ?? 0,
      output: number(given.output) ?? 0,
      cacheRead: number(given.cacheRead) ?? 0,
      cacheWrite: number(given.cacheWrite) ?? 0,
    }
  );
}

function readError(raw: unknown): Session['error'] {
  const given = fields(raw);
  return (
    given && {
      code: text(given.code) ?? 'unknown',
      message: text(given.message) ?? 'Something is wrong with this session.',
    }
  );
}

function readPresence(raw: unknown): Presence | null {
  const given = fields(raw);
  return (
    given && {
      entrypoint: text(given.entrypoint) ?? 'unknown',
      // whatever else it may be called one day, something goes on
      status: oneOf(PRESENCE_STATUSES, given.status) ?? 'busy',
      waitingFor: text(given.waitingFor),
      since: text(given.since),
    }
  );
}

function readItem(raw: unknown): WorkItem | null {
  const given = fields(raw);
  const key = given && text(given.key);
  return given && key ? { key, project: text(given.project) } : null;
}

function readAppendedPrompt(raw: unknown): AppendedPrompt | null {
  const given = fields(raw);
  return given && { characters: number(given.characters) ?? 0, pending: given.pending === true };
}

function readProgress(raw: unknown): Progress | null {
  const given = fields(raw);
  const items = given && number(given.items);
  if (!given || !items) return null;
  return {
    of: oneOf(PROGRESS_OF, given.of) ?? 'tasks',
    items,
    done: number(given.done) ?? 0,
    percent: number(given.percent) ?? 0,
    complete: given.complete === true,
  };
}

/** Null only where there is no id: nothing can be done with such a row. */
export function readSession(raw: unknown): Session | null {
  const given = fields(raw);
  const id = given && text(given.id);
  if (!given || !id) return null;
  return {
    id,
    workdir: text(given.workdir),
    project: text(given.project),
    name: text(given.name),
    title: text(given.title),
    firstPrompt: text(given.firstPrompt),
    lastPrompt: text(given.lastPrompt),
    messageCount: number(given.messageCount),
    created: text(given.created),
    modified: text(given.modified),
    gitBranch: text(given.gitBranch),
    size: number(given.size),
    model: text(given.model),
    permissionMode: text(given.permissionMode),
    state: oneOf(STATES, given.state) ?? 'idle',
    origin: oneOf(ORIGINS, given.origin),
    attention: number(given.attention) ?? 0,
    costUsd: number(given.costUsd),
    tokens: readTokens(given.tokens),
    error: readError(given.error),
    presence: readPresence(given.presence),
    archived: given.archived === true,
    archivedSince: text(given.archivedSince),
    unreadable: number(given.unreadable) ?? 0,
    item: readItem(given.item),
    systemPrompt: readAppendedPrompt(given.systemPrompt),
    progress: readProgress(given.progress),
    givenUp: text(given.givenUp),
  };
}

export function readSessionsPage(raw: unknown): SessionsPage | null {
  const given = fields(raw);
  if (!given || !Array.isArray(given.sessions)) return null;
  return {
    sessions: each(given.sessions, readSession),
    cursor: text(given.cursor),
    position: text(given.position),
  };
}

export function readHealth(raw: unknown): Health | null {
  const given = fields(raw);
  if (!given) return null;
  const scan = fields(given.scan);
  return {
    version: text(given.version),
    sessions: number(given.sessions),
    scan: scan && { done: number(scan.done) ?? 0, total: number(scan.total) ?? 0 },
  };
}

export interface Refusal {
  code: string;
  message: string;
  /** What can be done instead, where the server knows. */
  choices: string[];
}

export function readFailure(raw: unknown): Refusal | null {
  const given = fields(raw)?.error;
  const error = readError(given);
  return error && { ...error, choices: each(fields(given)?.choices, text) };
}
