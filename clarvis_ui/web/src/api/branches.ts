/** The branches of a session, as the wire contract has them. */

import { each, fields, number, oneOf, text, verbatim } from './decode';
import { type Message, readMessage } from './messages';
import { type Decision, readDecision } from './resume';

/** One end of a conversation: a session, and a path in it that was left (null: as it stands). */
export interface Tip {
  session: string;
  tip: string | null;
}

/** A session of a family: what it is a fork of, and what it has of its own. */
export interface Kin {
  sessionId: string;
  title: string | null;
  project: string | null;
  modified: string | null;
  archived: boolean;
  parent: string | null;
  /** The last message of the parent that it has too. */
  at: string | null;
  shared: number;
  messages: number;
  began: string | null;
  firstPrompt: string | null;
}

export interface Family {
  sessions: Kin[];
  complete: boolean;
}

/** A branch inside of a session. */
export interface Branch {
  tip: string | null;
  leaves: string | null;
  at: string | null;
  messages: number;
  began: string | null;
  ended: string | null;
  firstPrompt: string | null;
  lastWords: string | null;
}

export interface Branches {
  branches: Branch[];
  more: number;
  /** Which branch has the messages that were asked for; null is the conversation. */
  holders: ReadonlyMap<string, string | null>;
}

/** Messages of a branch since it parted from another, or of the past that both have. */
export interface BranchPage {
  at: string | null;
  shared: number;
  total: number;
  messages: Message[];
  after: string | null;
  before: string | null;
}

export const FATES = ['created', 'changed', 'deleted'] as const;

export interface Piece {
  before: string;
  after: string;
}

export interface FileChange {
  path: string;
  fate: (typeof FATES)[number];
  edits: number;
  /** The whole text before and after, where it is known. */
  before: string | null;
  after: string | null;
  pieces: Piece[];
  /** Whether something was too long to be told. */
  cut: boolean;
}

/** What was asked, decided and done on a branch since it parted from another. */
export interface BranchWork {
  prompts: string[];
  decisions: Decision[];
  files: FileChange[];
  moreFiles: number;
  commands: number;
  lastReply: string | null;
}

function readKin(raw: unknown): Kin | null {
  const given = fields(raw);
  const sessionId = given && text(given.sessionId);
  if (!given || !sessionId) return null;
  return {
    sessionId,
    title: text(given.title),
    project: text(given.project),
    modified: text(given.modified),
    archived: given.archived === true,
    parent: text(given.parent),
    at: text(given.at),
    shared: number(given.shared) ?? 0,
    messages: number(given.messages) ?? 0,
    began: text(given.began),
    firstPrompt: text(given.firstPrompt),
  };
}

export function readFamily(raw: unknown): Family | null {
  const given = fields(raw);
  return given && { sessions: each(given.sessions, readKin), complete: given.complete === true };
}

function readBranch(raw: unknown): Branch | null {
  const given = fields(raw);
  if (!given) return null;
  return {
    tip: text(given.tip),
    leaves: text(given.leaves),
    at: text(given.at),
    messages: number(given.messages) ?? 0,
    began: text(given.began),
    ended: text(given.ended),
    firstPrompt: text(given.firstPrompt),
    lastWords: text(given.lastWords),
  };
}

export function readBranches(raw: unknown): Branches | null {
  const given = fields(raw);
  return (
    given && {
      branches: each(given.branches, readBranch),
      more: number(given.more) ?? 0,
      holders: new Map(
        Object.entries(fields(given.holders) ?? {}).map(([uuid, tip]) => [uuid, text(tip)]),
      ),
    }
  );
}

export function readBranchPage(raw: unknown): BranchPage | null {
  const given = fields(raw);
  if (!given) return null;
  return {
    at: text(given.at),
    shared: number(given.shared) ?? 0,
    total: number(given.total) ?? 0,
    messages: each(given.messages, readMessage),
    after: text(given.after),
    before: text(given.before),
  };
}

function readPiece(raw: unknown): Piece | null {
  const given = fields(raw);
  return given && { before: verbatim(given.before), after: verbatim(given.after) };
}

function readFile(raw: unknown): FileChange | null {
  const given = fields(raw);
  const path = given && text(given.path);
  if (!given || !path) return null;
  return {
    path,
    fate: oneOf(FATES, given.fate) ?? 'changed',
    edits: number(given.edits) ?? 0,
    before: whole(given.before),
    after: whole(given.after),
    pieces: each(given.pieces, readPiece),
    cut: given.cut === true,
  };
}

/** An empty file is a text too. */
function whole(raw: unknown): string | null {
  return typeof raw === 'string' ? raw : null;
}

export function readBranchWork(raw: unknown): BranchWork | null {
  const given = fields(raw);
  if (!given) return null;
  return {
    prompts: each(given.prompts, text),
    decisions: each(given.decisions, readDecision),
    files: each(given.files, readFile),
    moreFiles: number(given.moreFiles) ?? 0,
    commands: number(given.commands) ?? 0,
    lastReply: text(given.lastReply),
  };
}

/** Which two are compared, as the keeper is asked: the one is in the address already. */
export function comparedQuery(one: Tip, other: Tip, more: Record<string, string> = {}): string {
  const query = new URLSearchParams({ with: other.session });
  if (one.tip !== null) query.set('tip', one.tip);
  if (other.tip !== null) query.set('withTip', other.tip);
  for (const [name, value] of Object.entries(more)) query.set(name, value);
  return query.toString();
}
