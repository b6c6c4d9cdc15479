import type { Attention, Suggestion } from '../../api/attention';
import { type Fields, fields, number, text, verbatim } from '../../api/decode';
import { changesOf, type TextChange, tallyOf } from '../../content/tools/toolSummary';
import { counted, money } from '../../lib/format';
import { relativeTo } from '../../lib/paths';
import { modeLabel } from '../../session/settings/modeLabels';

/** What a question asks, in words, and what there is to judge it by. */
export interface Presentation {
  title: string;
  /** What will happen, in a sentence. */
  sentence: string | null;
  evidence: Evidence;
}

export type Evidence =
  | { kind: 'command'; command: string }
  | { kind: 'changes'; changes: readonly TextChange[] }
  | { kind: 'words'; name: string; words: string }
  | { kind: 'input'; input: Fields }
  | { kind: 'none' };

export function presentationOf(attention: Attention, workdir: string | null): Presentation {
  const { tool, input } = attention;
  const rawPath = text(input.file_path) ?? text(input.notebook_path) ?? text(input.path);
  const path = rawPath === null ? null : relativeTo(rawPath, workdir);
  const description = attention.description ?? text(input.description);
  switch (tool) {
    case 'Bash':
      return {
        title: 'Run this command?',
        sentence: backgrounded(input, description),
        evidence: { kind: 'command', command: verbatim(input.command) },
      };
    case 'Edit':
    case 'MultiEdit':
    case 'NotebookEdit': {
      const changes = changesOf({ name: tool, input });
      const { added, removed } = tallyOf(changes);
      const often = input.replace_all === true ? 'everywhere in the file' : null;
      return {
        title: `Edit ${path ?? 'a file'}?`,
        sentence: `${sentenceCase(counted(changes.length, 'change'))}${often ? ` ${often}` : ''}, ${counted(added, 'line')} added, ${removed} removed.`,
        evidence: { kind: 'changes', changes },
      };
    }
    case 'Write': {
      const changes = changesOf({ name: tool, input });
      return {
        title: `Write ${path ?? 'a file'}?`,
        sentence: `The file will have ${counted(tallyOf(changes).added, 'line')}; what it holds now is replaced.`,
        evidence: { kind: 'changes', changes },
      };
    }
    case 'Read':
    case 'LS':
    case 'Glob':
    case 'Grep':
      return {
        title: `${tool === 'Read' ? 'Read' : 'Look into'} ${path ?? 'files'}?`,
        sentence: description === rawPath ? null : description,
        evidence: text(input.pattern)
          ? { kind: 'words', name: 'Pattern', words: verbatim(input.pattern) }
          : { kind: 'none' },
      };
    case 'WebFetch':
      return {
        title: `Fetch from ${hostOf(input.url)}?`,
        sentence: text(input.prompt),
        evidence: { kind: 'words', name: 'Address', words: verbatim(input.url) },
      };
    case 'WebSearch':
      return {
        title: 'Search the web?',
        sentence: description === input.query ? null : description,
        evidence: { kind: 'words', name: 'For', words: verbatim(input.query) },
      };
    case 'Agent':
    case 'Task':
      return {
        title: `Start a subagent${text(input.subagent_type) ? ` (${text(input.subagent_type)})` : ''}?`,
        sentence: description,
        evidence: { kind: 'words', name: 'It is told', words: verbatim(input.prompt) },
      };
    case 'Ceiling':
      return {
        title: attention.title ?? 'An item has reached its ceiling',
        sentence: `It has used ${ceilingUsageOf(input).map(usedWords).join(' and ') || 'what it may'}.`,
        evidence: { kind: 'none' },
      };
    case 'AskUserQuestion':
      return {
        title: questionsOf(input)[0]?.question ?? 'Answer a question?',
        sentence: null,
        evidence: { kind: 'none' },
      };
    case 'ExitPlanMode':
      return { title: 'Carry out this plan?', sentence: null, evidence: { kind: 'none' } };
    default: {
      const served = /^mcp__(.+?)__(.+)$/.exec(tool);
      return {
        title: attention.title ?? (served ? `Use ${served[2]} of ${served[1]}?` : `Use ${tool}?`),
        sentence: description,
        evidence: Object.keys(input).length > 0 ? { kind: 'input', input } : { kind: 'none' },
      };
    }
  }
}

/** What was asked for, without asking. */
export function subjectOf(attention: Attention, workdir: string | null): string {
  const { title, evidence } = presentationOf(attention, workdir);
  if (evidence.kind === 'command') return `Run ${evidence.command}`;
  return attention.kind === 'question' ? title : title.replace(/\?$/, '');
}

// ---- ceilings ----

/** A ceiling that is reached. */
export interface CeilingUsage {
  name: CeilingName;
  used: number;
  most: number;
  /** How much further it is offered to go. */
  further: number;
}

const CEILINGS = ['costUsd', 'turns', 'hours'] as const;
export type CeilingName = (typeof CEILINGS)[number];

export function ceilingUsageOf(input: Fields): CeilingUsage[] {
  const [used, most, further] = [input.used, input.ceilings, input.further].map(fields);
  return CEILINGS.flatMap((name) => {
    const reached = number(most?.[name]);
    if (reached === null) return [];
    return [
      {
        name,
        most: reached,
        used: number(used?.[name]) ?? reached,
        further: number(further?.[name]) ?? reached,
      },
    ];
  });
}

function usedWords({ name, used, most }: CeilingUsage): string {
  switch (name) {
    case 'costUsd':
      return `${money(used)} of ${money(most)}`;
    case 'turns':
      return `${used} of ${counted(most, 'turn')}`;
    case 'hours':
      return `${Number(used.toPrecision(3))} of ${counted(most, 'hour')}`;
    default:
      return name satisfies never;
  }
}

function backgrounded(input: Fields, description: string | null): string | null {
  const parts = [
    description,
    input.run_in_background === true ? 'It goes on in the background.' : null,
  ];
  return parts.filter(Boolean).join(' · ') || null;
}

function sentenceCase(words: string): string {
  return words.replace(/^1 /, 'One ');
}

function hostOf(url: unknown): string {
  const address = verbatim(url);
  return URL.canParse(address) ? new URL(address).host : 'an address';
}

// ---- always ----

/** For how long and where a rule holds. */
const SCOPES: Readonly<Record<string, string>> = {
  session: 'in this session',
  localSettings: 'in this project, for you',
  projectSettings: 'in this project, for everyone',
  userSettings: 'in all your projects',
};

/** Those that would change something: where the session works already, it need not be let in. */
export function offeredGrants({ grants }: Attention, workdir: string | null): Suggestion[][] {
  return grants.filter((grant) =>
    grant.some(({ type, directories }) => {
      const paths = list(directories).map(verbatim);
      const isInWorkdir =
        paths.length > 0 && paths.every((path) => relativeTo(path, workdir) !== path);
      return type !== 'addDirectories' || !isInWorkdir;
    }),
  );
}

/** What one answer would allow for good: its rules, and where else; each scope is said once. */
export function grantWords(grant: readonly Suggestion[], workdir: string | null): string {
  const folders = grant.filter(({ type }) => type === 'addDirectories');
  const others = grant.filter((change) => !folders.includes(change));
  const [first, ...rest] = others.length > 0 ? others : folders;
  if (first === undefined) return '';
  const rules = rest.length > 0 && others.every(isAllowing);
  const words = rules
    ? allowingWords(others, workdir)
    : [first, ...rest].map((one) => suggestionWords(one, workdir)).join('; ');
  if (others.length === 0 || folders.length === 0) return words;
  const paths = folders.flatMap(({ directories }) => list(directories));
  const directories = paths.map((path) => relativeTo(verbatim(path), workdir)).join(', ');
  const scope = SCOPES[verbatim(folders[0]?.destination)] ?? '';
  // a session's edits are meant for this session there too
  const same = first.type === 'setMode' && first.destination === folders[0]?.destination;
  return same
    ? `${words}, also in ${directories}`
    : `${words}, and access to ${directories} ${scope}`.trim();
}

function isAllowing({ type, behavior }: Suggestion): boolean {
  return type === 'addRules' && behavior !== 'deny';
}

/** Several rules: together where they hold for the same, one after another where not. */
function allowingWords(changes: readonly Suggestion[], workdir: string | null): string {
  const scopes = new Map<string, string[]>();
  for (const { destination, rules } of changes) {
    const words = list(rules).map((raw) => ruleWords(fields(raw) ?? {}, workdir));
    const scope = SCOPES[verbatim(destination)] ?? '';
    scopes.set(scope, [...(scopes.get(scope) ?? []), ...words]);
  }
  const parts = [...scopes].map(([scope, words]) => `${words.join(', ')} ${scope}`.trim());
  return `Always allow ${parts.join(', and ')}`;
}

/** What "always" would mean: the rule, and its scope. */
export function suggestionWords(suggestion: Suggestion, workdir: string | null): string {
  const scope = SCOPES[verbatim(suggestion.destination)] ?? '';
  const always = (what: string): string => `Always allow ${what} ${scope}`.trim();
  switch (suggestion.type) {
    case 'addRules':
    case 'replaceRules': {
      const rules = list(suggestion.rules).map((raw) => ruleWords(fields(raw) ?? {}, workdir));
      const verb = suggestion.behavior === 'deny' ? 'Never allow' : 'Always allow';
      return `${verb} ${rules.join(', ') || 'this'} ${scope}`.trim();
    }
    case 'addDirectories': {
      const paths = list(suggestion.directories).map((path) => relativeTo(verbatim(path), workdir));
      return always(`access to ${paths.join(', ')}`);
    }
    case 'setMode': {
      const mode = verbatim(suggestion.mode);
      if (mode === 'acceptEdits') return `Allow all edits ${scope}`.trim();
      return `Switch to “${modeLabel(mode)}” ${scope}`.trim();
    }
    default:
      return always(suggestion.type);
  }
}

function ruleWords(rule: Fields, workdir: string | null): string {
  const tool = text(rule.toolName) ?? 'this';
  const content = text(rule.ruleContent);
  if (content === null) return tool === 'Bash' ? 'every command' : `every ${tool}`;
  if (tool === 'Bash') {
    const prefix = /^(.+?)(?::\*| \*)$/.exec(content)?.[1];
    return prefix ? `commands that begin with “${prefix}”` : `“${content}”`;
  }
  if (tool === 'Read') return `reading ${placeWords(content, workdir)}`;
  if (tool === 'WebFetch') return `fetching from ${content.replace(/^domain:/, '')}`;
  return `${tool} of ${relativeTo(content, workdir)}`;
}

/** A rule has absolute paths with two slashes. */
function placeWords(content: string, workdir: string | null): string {
  const path = content.replace(/^\/\//, '/');
  const folder = /^(.+)\/\*\*$/.exec(path)?.[1];
  return folder ? `everything in ${relativeTo(folder, workdir)}` : relativeTo(path, workdir);
}

function list(raw: unknown): readonly unknown[] {
  return Array.isArray(raw) ? raw : [];
}

// ---- changing what will be done ----

/** The field of the input that a person would change; null: all of it, as JSON. */
export function editableField(tool: string): string | null {
  const field: Readonly<Record<string, string>> = {
    Bash: 'command',
    Edit: 'new_string',
    Write: 'content',
    NotebookEdit: 'new_source',
    WebFetch: 'url',
    WebSearch: 'query',
    Agent: 'prompt',
    Task: 'prompt',
  };
  return field[tool] ?? null;
}

export function editableText({ tool, input }: Attention): string {
  const field = editableField(tool);
  return field === null ? JSON.stringify(input, null, 2) : verbatim(input[field]);
}

/** The input as the person wants it; null where it is not JSON. */
export function editedInput({ tool, input }: Attention, edited: string): Fields | null {
  const field = editableField(tool);
  if (field !== null) return { ...input, [field]: edited };
  try {
    return fields(JSON.parse(edited));
  } catch {
    return null;
  }
}

// ---- questions ----

export interface Option {
  label: string;
  description: string | null;
}

export interface Question {
  question: string;
  header: string | null;
  many: boolean;
  options: Option[];
}

export function questionsOf(input: Fields): Question[] {
  return list(input.questions).flatMap((raw) => {
    const fieldsOfOption = fields(raw);
    const question = fieldsOfOption && text(fieldsOfOption.question);
    if (!fieldsOfOption || !question) return [];
    const options = list(fieldsOfOption.options).flatMap((one) => {
      const label = text(fields(one)?.label);
      return label ? [{ label, description: text(fields(one)?.description) }] : [];
    });
    return [
      {
        question,
        header: text(fieldsOfOption.header),
        many: fieldsOfOption.multiSelect === true,
        options,
      },
    ];
  });
}
