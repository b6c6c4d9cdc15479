/** Open questions and their answers, as the wire contract has them. */

import { each, type Fields, fields, oneOf, text } from './decode';

export const ATTENTION_KINDS = ['permission', 'question', 'plan', 'ceiling'] as const;
export type AttentionKind = (typeof ATTENTION_KINDS)[number];

/** A rule, directory or mode that "always" would set, as Claude Code proposed it; passed back whole. */
export type Suggestion = Fields & { readonly type: string };

export interface Attention {
  id: string;
  sessionId: string;
  toolUseId: string | null;
  tool: string;
  input: Fields;
  kind: AttentionKind;
  title: string | null;
  description: string | null;
  suggestions: Suggestion[];
  /** What may be allowed for good; each of them is one answer. */
  grants: Suggestion[][];
  blockedPath: string | null;
  reason: string | null;
  agentId: string | null;
  /** `terminal` where the same question also stands in a terminal. */
  origin: string | null;
  raised: string | null;
}

export const DECISIONS = ['allow', 'deny', 'withdrawn'] as const;
export type Decision = (typeof DECISIONS)[number];

/** A person's answer. */
export interface Answer {
  decision: 'allow' | 'deny';
  message?: string;
  updatedInput?: Fields;
  updatedPermissions?: readonly Suggestion[];
  answers?: Readonly<Record<string, string | readonly string[]>>;
  interrupt?: boolean;
  /** With `interrupt`: what waits in line is held. */
  hold?: boolean;
}

function readSuggestion(raw: unknown): Suggestion | null {
  const given = fields(raw);
  return given && typeof given.type === 'string' ? (given as Suggestion) : null;
}

/** An older keeper does not say which of its suggestions belong together. */
function readGrants(given: Fields): Suggestion[][] {
  if (!Array.isArray(given.grants)) {
    return each(given.suggestions, readSuggestion).map((suggestion) => [suggestion]);
  }
  return given.grants
    .map((grant) => each(grant, readSuggestion))
    .filter((grant) => grant.length > 0);
}

export function readAttention(raw: unknown): Attention | null {
  const given = fields(raw);
  const id = given && text(given.id);
  const sessionId = given && text(given.sessionId);
  if (!given || !id || !sessionId) return null;
  return {
    id,
    sessionId,
    toolUseId: text(given.toolUseId),
    tool: text(given.tool) ?? 'a tool',
    input: fields(given.input) ?? {},
    kind: oneOf(ATTENTION_KINDS, given.kind) ?? 'permission',
    title: text(given.title),
    description: text(given.description),
    suggestions: each(given.suggestions, readSuggestion),
    grants: readGrants(given),
    blockedPath: text(given.blockedPath),
    reason: text(given.reason),
    agentId: text(given.agentId),
    origin: text(given.origin),
    raised: text(given.raised),
  };
}

export function readAttentions(raw: unknown): Attention[] | null {
  const given = fields(raw);
  return given && Array.isArray(given.attention) ? each(given.attention, readAttention) : null;
}

/** What is left of a turn that was cut off. */
/** `images`: how many of its blocks are no words. */
export interface Said {
  uuid: string;
  text: string;
  images: number;
}

export interface Left {
  /** What it had asked. */
  questions: Attention[];
  /** What was said to it, and what waited behind it; a transcript may have it or not. */
  said: Said[];
  /** Of these, what waited: each of them can be taken back. */
  waited: string[];
  /** Whether Claude had begun: then it is told to go on before it is told what waited. */
  begun: boolean;
}

/** Out of a page of a session that the keeper could not see through. */
export function readLeft(raw: unknown): Left | null {
  const given = fields(raw);
  const left = given && fields(given.interrupted);
  if (!given) return null;
  const prompt = readSaid(left?.prompt);
  const waited = each(left?.queue, readSaid);
  return {
    questions: each(left?.questions, readAttention),
    said: [...(prompt ? [prompt] : []), ...waited],
    waited: waited.map(({ uuid }) => uuid),
    begun: prompt === null && left?.begun !== false,
  };
}

function readSaid(raw: unknown): Said | null {
  const given = fields(raw);
  const uuid = text(given?.uuid);
  // what is held waits for a person, not for this turn to go on
  if (!given || uuid === null || given.held === true) return null;
  const blocks = typeof given.content === 'string' ? [{ text: given.content }] : given.content;
  const words = each(blocks, (block) => text(fields(block)?.text));
  const images = Array.isArray(blocks) ? blocks.length - words.length : 0;
  return { uuid, text: words.join('\n'), images };
}
