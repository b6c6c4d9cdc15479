/** Open questions and their answers, and what an interrupted turn had asked. */

import {
  type Decoded,
  each,
  type Fields,
  fields,
  fieldsOf,
  flag,
  oneOf,
  type Raw,
  text,
} from './decode';
import type * as Wire from './schema';

export const ATTENTION_KINDS = ['permission', 'question', 'plan', 'ceiling'] as const;
export type AttentionKind = (typeof ATTENTION_KINDS)[number];

export const DECISIONS = ['allow', 'deny', 'withdrawn'] as const;
export type Decision = (typeof DECISIONS)[number];

/** A rule, directory or mode that "always" would set, as Claude Code proposed it; passed back whole. */
export type Suggestion = Fields & { readonly type: string };
export type Attention = Decoded<typeof readAttention>;
/** Of an interrupted turn, the prompts that it had or that queued behind it. */
export type InterruptedPrompt = Decoded<typeof readInterruptedPrompt>;
export type Interruption = Decoded<typeof readInterruption>;

/** A person's answer: a `Wire.Resolve` whose parts are read-only. */
export interface Answer extends Pick<Wire.Resolve, 'decision' | 'interrupt' | 'hold'> {
  message?: string;
  updatedInput?: Fields;
  updatedPermissions?: readonly Suggestion[];
  answers?: Readonly<Record<string, string | readonly string[]>>;
}

function readSuggestion(raw: unknown): Suggestion | null {
  const suggestion = fields(raw);
  return suggestion && typeof suggestion.type === 'string' ? (suggestion as Suggestion) : null;
}

/** An older keeper does not say which of its suggestions belong together. */
function readGrants(grants: unknown, suggestions: Suggestion[]): Suggestion[][] {
  if (!Array.isArray(grants)) return suggestions.map((suggestion) => [suggestion]);
  return grants.map((grant) => each(grant, readSuggestion)).filter((grant) => grant.length > 0);
}

export function readAttention(raw: unknown) {
  const attention = fieldsOf<Wire.Attention>(raw);
  const id = text(attention?.id);
  const sessionId = text(attention?.sessionId);
  if (!attention || !id || !sessionId) return null;
  const suggestions = each(attention.suggestions, readSuggestion);
  return {
    id,
    sessionId,
    toolUseId: text(attention.toolUseId),
    tool: text(attention.tool) ?? 'a tool',
    input: fields<unknown>(attention.input) ?? {},
    kind: oneOf(ATTENTION_KINDS, attention.kind) ?? ('permission' as const),
    title: text(attention.title),
    description: text(attention.description),
    suggestions,
    /** What may be allowed for good; each of them is one answer. */
    grants: readGrants(attention.grants, suggestions),
    blockedPath: text(attention.blockedPath),
    reason: text(attention.reason),
    agentId: text(attention.agentId),
    /** `terminal` where the same question is also open in a terminal. */
    origin: text(attention.origin),
    raised: text(attention.raised),
  };
}

export function readAttentions(raw: unknown): Attention[] | null {
  const list = fieldsOf<Wire.AttentionList>(raw);
  return list && Array.isArray(list.attention) ? each(list.attention, readAttention) : null;
}

/** The interrupted turn of a session's page. */
export function readInterruption(raw: unknown) {
  const page = fieldsOf<Wire.HistoryPage>(raw);
  if (!page) return null;
  const turn = fields(page.interrupted);
  const prompt = readInterruptedPrompt(turn?.prompt);
  const queued = each(turn?.queue, readInterruptedPrompt);
  return {
    /** What it had asked. */
    questions: each(turn?.questions, readAttention),
    /** What was said to it, and what queued behind it; a transcript may have it or not. */
    prompts: [...(prompt ? [prompt] : []), ...queued],
    /** Of these, what queued: each of them can be taken back. */
    queuedUuids: queued.map(({ uuid }) => uuid),
    /** Whether Claude had begun: then it is told to go on before it gets what queued. */
    begun: prompt === null && flag(turn?.begun, true),
  };
}

function readInterruptedPrompt(raw: Raw<Wire.QueuedMessage> | undefined) {
  const message = fields(raw);
  const uuid = text(message?.uuid);
  // what is held waits for a person, not for this turn to go on
  if (!message || uuid === null || flag(message.held)) return null;
  const content: unknown = message.content;
  const blocks = typeof content === 'string' ? [{ text: content }] : content;
  const words = each(blocks, (block) => text(fields(block)?.text));
  /** How many of its blocks are no words. */
  const images = Array.isArray(blocks) ? blocks.length - words.length : 0;
  return { uuid, text: words.join('\n'), images };
}
