/**
 * The wire contract, as far as the page speaks it, and the door through which it comes in.
 *
 * Readers are forgiving: a field that is missing or of another type becomes null, so that a keeper
 * of another version costs a detail and not the page.
 */

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
  state: SessionState;
  origin: Origin | null;
  costUsd: number | null;
  tokens: Tokens | null;
  error: { code: string; message: string } | null;
}

export interface SessionsPage {
  sessions: Session[];
  cursor: string | null;
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

type Fields = Readonly<Record<string, unknown>>;

function fields(raw: unknown): Fields | null {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw) ? (raw as Fields) : null;
}

function text(raw: unknown): string | null {
  return typeof raw === 'string' && raw !== '' ? raw : null;
}

function number(raw: unknown): number | null {
  return typeof raw === 'number' && Number.isFinite(raw) ? raw : null;
}

function oneOf<T extends string>(known: readonly T[], raw: unknown): T | null {
  return known.find((word) => word === raw) ?? null;
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
    state: oneOf(STATES, given.state) ?? 'idle',
    origin: oneOf(ORIGINS, given.origin),
    costUsd: number(given.costUsd),
    tokens: readTokens(given.tokens),
    error: readError(given.error),
  };
}

export function readSessionsPage(raw: unknown): SessionsPage | null {
  const given = fields(raw);
  const rows = given?.sessions;
  if (!given || !Array.isArray(rows)) return null;
  return {
    sessions: rows.map(readSession).filter((session) => session !== null),
    cursor: text(given.cursor),
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

export function readFailure(raw: unknown): { code: string; message: string } | null {
  return readError(fields(raw)?.error);
}
