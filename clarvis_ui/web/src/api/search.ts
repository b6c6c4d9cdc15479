/** Full-text search: what is looked for, and its hits. */

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
import type * as Wire from './schema';

export const SEARCH_KINDS = ['prompt', 'reply', 'toolResult', 'decision'] as const;
export type SearchKind = (typeof SEARCH_KINDS)[number];

export interface Wanted {
  words: string;
  kind: SearchKind | null;
  workdir: string | null;
  /** Whether the most telling come first, not the newest. */
  best: boolean;
}

export type Piece = Decoded<typeof readPiece>;
export type Hit = Decoded<typeof readHit>;
export type Index = SearchResponse['index'];
export type SearchResponse = Decoded<typeof readSearchResponse>;

const STAGES = ['starting', 'building', 'ready', 'failed'] as const;

function readPiece(raw: Raw<Wire.SnippetPart>) {
  const part = fields(raw);
  return part && { text: verbatim(part.text), match: flag(part.match) };
}

function readHit(raw: Raw<Wire.SearchHit>) {
  const hit = fields(raw);
  const sessionId = text(hit?.sessionId);
  const uuid = text(hit?.uuid);
  if (!hit || !sessionId || !uuid) return null;
  return {
    sessionId,
    uuid,
    agentId: text(hit.agentId),
    /** The call that started the subagent, if it is in the transcript. */
    toolUseId: text(hit.toolUseId),
    kind: verbatim(hit.kind),
    timestamp: text(hit.timestamp),
    decision: flag(hit.decision),
    /** Whether a word stands only inside longer ones: such hits come last. */
    inside: flag(hit.inside),
    where: text(hit.where),
    tool: text(hit.tool),
    snippet: each(hit.snippet, readPiece),
    title: text(hit.title),
    workdir: text(hit.workdir),
    project: text(hit.project),
  };
}

export function readSearchResponse(raw: unknown) {
  const results = fieldsOf<Wire.SearchResults>(raw);
  if (!results) return null;
  const index = fields(results.index);
  return {
    hits: each(results.hits, readHit),
    cursor: text(results.cursor),
    decisionsFirst: flag(results.decisionsFirst),
    index: {
      stage: oneOf(STAGES, index?.stage) ?? ('ready' as const),
      done: count(index?.done),
      total: count(index?.total),
    },
  };
}

/** The parameters of the request. */
export function searchQuery(wanted: Wanted, cursor: string | null, limit: number): URLSearchParams {
  const query = new URLSearchParams({ q: wanted.words, limit: `${limit}` });
  if (wanted.kind !== null) query.set('kind', wanted.kind);
  if (wanted.workdir !== null) query.set('workdir', wanted.workdir);
  if (wanted.best) query.set('order', 'relevance');
  if (cursor !== null) query.set('cursor', cursor);
  return query;
}
