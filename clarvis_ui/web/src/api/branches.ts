/** The branches and forks of a session. */

import {
  count,
  type Decoded,
  each,
  fields,
  fieldsOf,
  flag,
  oneOf,
  type Raw,
  text,
  verbatim,
} from './decode';
import { readMessage } from './messages';
import { readDecision } from './resume';
import type * as Wire from './schema';

/** One end of a conversation: a session, and the tip of a branch (null: the conversation). */
export interface Tip {
  session: string;
  tip: string | null;
}

/** A session of a family: what it is a fork of, and what it has of its own. */
export type RelatedSession = Decoded<typeof readRelatedSession>;
export type Family = Decoded<typeof readFamily>;
/** A branch inside a session. */
export type Branch = Decoded<typeof readBranch>;
export type Branches = Decoded<typeof readBranches>;
/** Messages of a branch since it parted from another, or of the past that both have. */
export type BranchPage = Decoded<typeof readBranchPage>;
export type Piece = Decoded<typeof readPiece>;
export type FileChange = Decoded<typeof readFile>;
/** What was asked, decided and done on a branch since it parted from another. */
export type BranchWork = Decoded<typeof readBranchWork>;

export const FATES = ['created', 'changed', 'deleted'] as const;

function readRelatedSession(raw: Raw<Wire.FamilyMember>) {
  const member = fields(raw);
  const sessionId = text(member?.sessionId);
  if (!member || !sessionId) return null;
  return {
    sessionId,
    title: text(member.title),
    project: text(member.project),
    modified: text(member.modified),
    archived: flag(member.archived),
    parent: text(member.parent),
    /** The last message of the parent that it has too. */
    at: text(member.at),
    shared: count(member.shared),
    messages: count(member.messages),
    began: text(member.began),
    firstPrompt: text(member.firstPrompt),
  };
}

export function readFamily(raw: unknown) {
  const family = fieldsOf<Wire.Family>(raw);
  return (
    family && {
      sessions: each(family.sessions, readRelatedSession),
      complete: flag(family.complete),
    }
  );
}

function readBranch(raw: Raw<Wire.BranchSummary>) {
  const branch = fields(raw);
  return (
    branch && {
      tip: text(branch.tip),
      leaves: text(branch.leaves),
      at: text(branch.at),
      messages: count(branch.messages),
      began: text(branch.began),
      ended: text(branch.ended),
      firstPrompt: text(branch.firstPrompt),
      lastWords: text(branch.lastWords),
    }
  );
}

export function readBranches(raw: unknown) {
  const list = fieldsOf<Wire.BranchList>(raw);
  if (!list) return null;
  const holders = Object.entries(fields<unknown>(list.holders) ?? {});
  return {
    branches: each(list.branches, readBranch),
    more: count(list.more),
    /** Which branch has the messages that were asked for; null is the conversation. */
    holders: new Map(holders.map(([uuid, tip]) => [uuid, text(tip)])),
  };
}

export function readBranchPage(raw: unknown) {
  const page = fieldsOf<Wire.BranchPage>(raw);
  return (
    page && {
      at: text(page.at),
      shared: count(page.shared),
      total: count(page.total),
      messages: each(page.messages, readMessage),
      after: text(page.after),
      before: text(page.before),
    }
  );
}

function readPiece(raw: Raw<Wire.FilePiece>) {
  const piece = fields(raw);
  return piece && { before: verbatim(piece.before), after: verbatim(piece.after) };
}

function readFile(raw: Raw<Wire.FileChange>) {
  const file = fields(raw);
  const path = text(file?.path);
  if (!file || !path) return null;
  return {
    path,
    fate: oneOf(FATES, file.fate) ?? ('changed' as const),
    edits: count(file.edits),
    /** The whole text before and after, if the keeper has it and it is not too long. */
    before: whole(file.before),
    after: whole(file.after),
    pieces: each(file.pieces, readPiece),
    /** Whether something was too long to be sent. */
    cut: flag(file.cut),
  };
}

/** An empty file is a text too. */
function whole(raw: unknown): string | null {
  return typeof raw === 'string' ? raw : null;
}

export function readBranchWork(raw: unknown) {
  const work = fieldsOf<Wire.BranchWork>(raw);
  return (
    work && {
      prompts: each(work.prompts, text),
      decisions: each(work.decisions, readDecision),
      files: each(work.files, readFile),
      moreFiles: count(work.moreFiles),
      commands: count(work.commands),
      lastReply: text(work.lastReply),
    }
  );
}

/** The parameters of a comparison; the address has the first of the two already. */
export function comparedQuery(one: Tip, other: Tip, more: Record<string, string> = {}): string {
  const query = new URLSearchParams({ with: other.session });
  if (one.tip !== null) query.set('tip', one.tip);
  if (other.tip !== null) query.set('withTip', other.tip);
  for (const [name, value] of Object.entries(more)) query.set(name, value);
  return query.toString();
}
