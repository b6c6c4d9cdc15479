/** The tree of a session's branches, and two of them compared: pure. */

import type {
  Branch,
  Branches,
  BranchWork,
  Family,
  FileChange,
  RelatedSession,
  Tip,
} from '../api/branches';
import type { Session } from '../api/sessions';

/** A branch as the tree shows it. */
export interface BranchNode {
  key: string;
  tip: Tip;
  /** `now`: the open session; `left`: a path in it that was left. */
  kind: 'now' | 'left' | 'session';
  title: string;
  /** Its first prompt and last words after the separation. */
  first: string | null;
  last: string | null;
  messages: number;
  time: string | null;
  /** The message after which it goes its own way, and the session that has it. */
  at: { session: string; message: string } | null;
  archived: boolean;
  children: BranchNode[];
}

/** What kind of branch it is, in words. */
export function kindWords({ kind, at, archived }: BranchNode): string {
  if (kind === 'left') return 'Left by going back';
  const words = at ? 'Fork' : kind === 'now' ? 'This conversation' : 'The original';
  return archived ? `${words}, deleted` : words;
}

export const UNTITLED = 'Untitled session';

export function tipKey({ session, tip }: Tip): string {
  return tip === null ? session : `${session}/${tip}`;
}

/** Forks below their originals; paths that were left in the open session below it. */
export function treeOf(session: string, family: Family, inside: Branches | null): BranchNode[] {
  const nodes = new Map<string, BranchNode>();
  const top: BranchNode[] = [];
  const main = inside?.branches.find((branch) => branch.tip === null) ?? null;
  for (const member of family.sessions) {
    const node = sessionNode(member, session, main);
    nodes.set(node.key, node);
  }
  const leftBranches = (inside?.branches ?? []).filter((branch) => branch.tip !== null);
  for (const branch of leftBranches) {
    const node = leftNode(branch, session);
    nodes.set(node.key, node);
  }
  for (const member of family.sessions) {
    const node = nodes.get(member.sessionId);
    if (node) (parentOf(member, session, inside, nodes)?.children ?? top).push(node);
  }
  for (const branch of leftBranches) {
    const node = nodes.get(tipKey({ session, tip: branch.tip }));
    const parent = nodes.get(tipKey({ session, tip: branch.leaves })) ?? nodes.get(session);
    if (node && parent && parent !== node) parent.children.push(node);
  }
  for (const node of nodes.values()) node.children.sort(byTime);
  return top.sort(byTime);
}

/** The node that a session was forked from. */
function parentOf(
  { parent, at }: RelatedSession,
  session: string,
  inside: Branches | null,
  nodes: ReadonlyMap<string, BranchNode>,
): BranchNode | undefined {
  if (parent === null) return undefined;
  const tip = (parent === session && at !== null && inside?.holders.get(at)) || null;
  return nodes.get(tipKey({ session: parent, tip })) ?? nodes.get(parent);
}

function sessionNode(member: RelatedSession, open: string, main: Branch | null): BranchNode {
  const here = member.sessionId === open;
  return {
    key: member.sessionId,
    tip: { session: member.sessionId, tip: null },
    kind: here ? 'now' : 'session',
    title: member.title ?? member.firstPrompt ?? UNTITLED,
    first:
      member.parent === null || member.firstPrompt === member.title ? null : member.firstPrompt,
    last: here ? unmarked(main?.lastWords ?? null) : null,
    messages: member.parent === null && here && main ? main.messages : member.messages,
    time: member.modified,
    at:
      member.parent !== null && member.at !== null
        ? { session: member.parent, message: member.at }
        : null,
    archived: member.archived,
    children: [],
  };
}

function leftNode(branch: Branch, session: string): BranchNode {
  return {
    key: tipKey({ session, tip: branch.tip }),
    tip: { session, tip: branch.tip },
    kind: 'left',
    title: branch.firstPrompt ?? unmarked(branch.lastWords) ?? 'Without words',
    first: null,
    last: branch.firstPrompt === null ? null : unmarked(branch.lastWords),
    messages: branch.messages,
    time: branch.ended,
    at: branch.at === null ? null : { session, message: branch.at },
    archived: false,
    children: [],
  };
}

/** In a line of its own, markdown is only noise. */
function unmarked(words: string | null): string | null {
  return (
    words
      ?.replace(/```\w*|\*\*|`/g, '')
      .replace(/\s+/g, ' ')
      .trim() || null
  );
}

function byTime(one: BranchNode, other: BranchNode): number {
  return (one.time ?? '').localeCompare(other.time ?? '') || one.key.localeCompare(other.key);
}

export function allNodes(nodes: readonly BranchNode[]): BranchNode[] {
  return nodes.flatMap((node) => [node, ...allNodes(node.children)]);
}

/** The selection with one more; of two, the earlier one is dropped. */
export function chosenWith(chosen: readonly string[], key: string): string[] {
  if (chosen.includes(key)) return chosen.filter((each) => each !== key);
  return [...chosen, key].slice(-2);
}

/** Changes when a session of the family changes, or a session is added. */
export function familyChangeKey(
  session: string,
  family: Family | null,
  sessions: ReadonlyMap<string, Pick<Session, 'modified' | 'messageCount'>>,
): string {
  const ids = new Set([session, ...(family?.sessions ?? []).map((member) => member.sessionId)]);
  return `${sessions.size}|${sessionChangeKey([...ids].sort(), sessions)}`;
}

/** Changes when one of these sessions does. */
export function sessionChangeKey(
  ids: readonly string[],
  sessions: ReadonlyMap<string, Pick<Session, 'modified' | 'messageCount'>>,
): string {
  const seen = ids.map((id) => {
    const session = sessions.get(id);
    return session ? `${session.modified} ${session.messageCount}` : '';
  });
  return seen.join('|');
}

/** The suggested comparison: the open session and its parent or its newest branch. */
export function suggested(nodes: readonly BranchNode[]): string[] {
  const all = allNodes(nodes);
  const now = all.find((node) => node.kind === 'now');
  if (!now || all.length < 2) return [];
  const near = now.children.at(-1) ?? all.find((node) => node.children.includes(now)) ?? all[0];
  return near && near !== now ? [now.key, near.key] : [];
}

// ---- files ----

export type Where = 'both' | 'one' | 'other' | 'same';

export interface FilePair {
  path: string;
  where: Where;
  one: FileChange | null;
  other: FileChange | null;
}

const ORDER: readonly Where[] = ['both', 'one', 'other', 'same'];

/** Which files only one of them changed, which both did, and which are the same in both. */
export function pairedFiles(one: readonly FileChange[], other: readonly FileChange[]): FilePair[] {
  const theirs = new Map(other.map((file) => [file.path, file]));
  const mine = new Set(one.map((file) => file.path));
  const pairs: FilePair[] = one.map((file) => {
    const counterpart = theirs.get(file.path) ?? null;
    const where = counterpart === null ? 'one' : endsAlike(file, counterpart) ? 'same' : 'both';
    return { path: file.path, where, one: file, other: counterpart };
  });
  for (const file of other) {
    if (!mine.has(file.path))
      pairs.push({ path: file.path, where: 'other', one: null, other: file });
  }
  return pairs.sort(
    (a, b) => ORDER.indexOf(a.where) - ORDER.indexOf(b.where) || a.path.localeCompare(b.path),
  );
}

/** Whether a file is the same in both, as far as that is known. */
function endsAlike(one: FileChange, other: FileChange): boolean {
  if (one.fate === 'deleted' || other.fate === 'deleted') return one.fate === other.fate;
  if (one.after !== null || other.after !== null) return one.after === other.after;
  if (one.cut || other.cut || one.pieces.length === 0) return false;
  return JSON.stringify(one.pieces) === JSON.stringify(other.pieces);
}

/** A text and what became of it: to be shown as a difference. */
export interface PairedChange {
  before: string;
  after: string;
}

/** The text at the end of a branch; null where it is not known. */
function textOf(file: FileChange): string | null {
  return file.fate === 'deleted' ? '' : file.after;
}

/** What a branch did to a file: as a whole, or edit by edit. */
export function changesIn(file: FileChange): PairedChange[] {
  const after = textOf(file);
  if (after !== null && (file.before !== null || file.fate === 'created')) {
    return [{ before: file.before ?? '', after }];
  }
  if (file.pieces.length > 0) return file.pieces.map((piece) => ({ ...piece }));
  return after !== null && file.fate !== 'deleted' ? [{ before: '', after }] : [];
}

/** How a file differs between the two; null where it is not known. */
export function differenceOf({ one, other }: FilePair): PairedChange | null {
  if (one === null || other === null) return null;
  const [before, after] = [textOf(other), textOf(one)];
  return before === null || after === null ? null : { before, after };
}

/** Whether a branch did anything since. */
export function didNothing({ prompts, files, decisions, lastReply }: BranchWork): boolean {
  return prompts.length + files.length + decisions.length === 0 && lastReply === null;
}
