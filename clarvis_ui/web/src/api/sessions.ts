/** Sessions and the keeper's health. */

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
} from './decode';
import type * as Wire from './schema';

export const STATES = ['idle', 'starting', 'running', 'waiting', 'error'] as const;
export type SessionState = (typeof STATES)[number];

export const ORIGINS = ['gateway', 'terminal'] as const;
export type Origin = (typeof ORIGINS)[number];

export const PRESENCE_STATUSES = ['busy', 'idle', 'waiting'] as const;
export const PROGRESS_OF = ['checklist', 'tasks'] as const;

export type Tokens = Decoded<typeof readTokens>;
/** A Claude Code that somebody else runs: in a terminal, an editor or a script. */
export type Presence = Decoded<typeof readPresence>;
/** An item of work: its key is its own only within its project. */
export type WorkItem = Decoded<typeof readItem>;
/** What a person appended to Claude Code's own system prompt. */
export type AppendedPrompt = Decoded<typeof readAppendedPrompt>;
export type Progress = Decoded<typeof readProgress>;
export type Session = Decoded<typeof readSession>;
export type SessionsPage = Decoded<typeof readSessionsPage>;
export type Health = Decoded<typeof readHealth>;
/** How far the background pass is that reads every transcript once. */
export type Scan = NonNullable<Health['scan']>;
export type Refusal = Decoded<typeof readFailure>;

function readTokens(raw: Raw<Wire.Tokens> | undefined) {
  const tokens = fields(raw);
  return (
    tokens && {
      input: count(tokens.input),
      output: count(tokens.output),
      cacheRead: count(tokens.cacheRead),
      cacheWrite: count(tokens.cacheWrite),
    }
  );
}

function readError(raw: Raw<Wire.Fault> | undefined) {
  const error = fields(raw);
  return (
    error && {
      code: text(error.code) ?? 'unknown',
      message: text(error.message) ?? 'Something is wrong with this session.',
    }
  );
}

function readPresence(raw: Raw<Wire.Presence> | undefined) {
  const presence = fields(raw);
  return (
    presence && {
      entrypoint: text(presence.entrypoint) ?? 'unknown',
      // a status that a later version may have: something runs
      status: oneOf(PRESENCE_STATUSES, presence.status) ?? ('busy' as const),
      waitingFor: text(presence.waitingFor),
      /** Since when it has this status. */
      since: text(presence.since),
    }
  );
}

function readItem(raw: Raw<Wire.WorkItem> | undefined) {
  const item = fields(raw);
  const key = text(item?.key);
  return item && key ? { key, project: text(item.project) } : null;
}

function readAppendedPrompt(raw: Raw<Wire.AppendedPrompt> | undefined) {
  const prompt = fields(raw);
  return (
    prompt && {
      /** 0: it was cleared. */
      characters: count(prompt.characters),
      /** The process that runs was started with another one; the next one has this. */
      pending: flag(prompt.pending),
    }
  );
}

function readProgress(raw: Raw<Wire.SessionProgress> | undefined) {
  const progress = fields(raw);
  const items = number(progress?.items);
  if (!progress || !items) return null;
  return {
    of: oneOf(PROGRESS_OF, progress.of) ?? ('tasks' as const),
    items,
    done: count(progress.done),
    percent: count(progress.percent),
    complete: flag(progress.complete),
  };
}

/** Null only where there is no id: nothing can be done with such a row. */
export function readSession(raw: unknown) {
  const session = fieldsOf<Wire.Session>(raw);
  const id = text(session?.id);
  if (!session || !id) return null;
  return {
    id,
    workdir: text(session.workdir),
    project: text(session.project),
    /** What the user called it; it wins over `title`. */
    name: text(session.name),
    title: text(session.title),
    firstPrompt: text(session.firstPrompt),
    lastPrompt: text(session.lastPrompt),
    /** Null while the background pass has not counted it yet. */
    messageCount: number(session.messageCount),
    created: text(session.created),
    modified: text(session.modified),
    gitBranch: text(session.gitBranch),
    size: number(session.size),
    model: text(session.model),
    /** Null where nothing runs that could have one. */
    permissionMode: text(session.permissionMode),
    state: oneOf(STATES, session.state) ?? ('idle' as const),
    origin: oneOf(ORIGINS, session.origin),
    /** How many questions wait for an answer. */
    attention: count(session.attention),
    costUsd: number(session.costUsd),
    tokens: readTokens(session.tokens),
    error: readError(session.error),
    /** Where it runs, if somebody else runs it. */
    presence: readPresence(session.presence),
    /** Claude Code deleted it; the archive has it, and a message brings it back. */
    archived: flag(session.archived),
    archivedSince: text(session.archivedSince),
    /** Lines of the transcript that could not be read. */
    unreadable: count(session.unreadable),
    /** The item of work whose conversation it is, or was. */
    item: readItem(session.item),
    systemPrompt: readAppendedPrompt(session.systemPrompt),
    /** By the project's checklist or its own tasks; null where there are neither. */
    progress: readProgress(session.progress),
    /** When the person gave it up; null as soon as it goes on. */
    givenUp: text(session.givenUp),
  };
}

export function readSessionsPage(raw: unknown) {
  const list = fieldsOf<Wire.SessionList>(raw);
  if (!list || !Array.isArray(list.sessions)) return null;
  return {
    sessions: each(list.sessions, readSession),
    cursor: text(list.cursor),
    /** Where in the stream of events this was true. */
    position: text(list.position),
  };
}

export function readHealth(raw: unknown) {
  const health = fieldsOf<Wire.Health>(raw);
  if (!health) return null;
  const scan = fields(health.scan);
  return {
    version: text(health.version),
    sessions: number(health.sessions),
    scan: scan && { done: count(scan.done), total: count(scan.total) },
  };
}

export function readFailure(raw: unknown) {
  const answer = fieldsOf<Wire.ErrorAnswer>(raw)?.error;
  const error = readError(answer);
  /** `choices`: what can be done instead, where the server says so. */
  return error && { ...error, choices: each(fields(answer)?.choices, text) };
}
