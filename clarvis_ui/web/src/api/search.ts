/** What was looked for and found, as the wire contract has it. */

import { each, fields, number, oneOf, text, verbatim } from './decode';

export const SEARCH_KINDS = ['prompt', 'reply', 'toolResult', 'decision'] as const;
export type SearchKind = (typeof SEARCH_KINDS)[number];

export interface Wanted {
  words: string;
  kind: SearchKind | null;
  workdir: string | null;
  /** Whether the most telling come first, not the newest. */
  best: boolean;
}

export interface Piece {
  text: string;
  match: boolean;
}

export interface Hit {
  sessionId: string;
  uuid: string;
  agentId: string | null;
  /** The call that started the subagent, where that is known. */
  toolUseId: string | null;
  kind: string;
  timestamp: string | null;
  decision: boolean;
  /** Whether a word stands only inside of longer ones: such hits come last. */
  inside: boolean;
  where: string | null;
  tool: string | null;
  snippet: Piece[];
  title: string | null;
  workdir: string | null;
  project: string | null;
}

const STAGES = ['starting', 'building', 'ready', 'failed'] as const;

export interface Index {
  stage: (typeof STAGES)[number];
  done: number;
  total: number;
}

export interface Found {
  hits: Hit[];
  cursor: string | null;
  decisionsFirst: boolean;
  index: Index;
}

function readPiece(raw: unknown): Piece | null {
  const given = fields(raw);
  return given && { text: verbatim(given.text), match: given.match === true };
}

function readHit(raw: unknown): Hit | null {
  const given = fields(raw);
  const sessionId = text(given?.sessionId);
  const uuid = text(given?.uuid);
  if (!given || !sessionId || !uuid) return null;
  return {
    sessionId,
    uuid,
    agentId: text(given.agentId),
    toolUseId: text(given.toolUseId),
    kind: verbatim(given.kind),
    timestamp: text(given.timestamp),
    decision: given.decision === true,
    inside: given.inside === true,
    where: text(given.where),
    tool: text(given.tool),
    snippet: each(given.snippet, readPiece),
    title: text(given.title),
    workdir: text(given.workdir),
    project: text(given.project),
  };
}

export function readFound(raw: unknown): Found | null {
  const given = fields(raw);
  if (!given) return null;
  const index = fields(given.index);
  return {
    hits: each(given.hits, readHit),
    cursor: text(given.cursor),
    decisionsFirst: given.decisionsFirst === true,
    index: {
      stage: oneOf(STAGES, index?.stage) ?? 'ready',
      done: number(index?.done) ?? 0,
      total: number(index?.total) ?? 0,
    },
  };
}

/** The same wish as parameters of the request. */
export function searchQuery(wanted: Wanted, cursor: string | null, limit: number): URLSearchParams {
  const query = new URLSearchParams({ q: wanted.words, limit: `${limit}` });
  if (wanted.kind !== null) query.set('kind', wanted.kind);
  if (wanted.workdir !== null) query.set('workdir', wanted.workdir);
  if (wanted.best) query.set('order', 'relevance');
  if (cursor !== null) query.set('cursor', cursor);
  return query;
}
