import type { AttentionKind } from '../api/attention';
import type { Progress, Session } from '../api/sessions';
import { counted } from '../lib/format';
import { waitingWords, whereWords } from './presenceLabels';

/** What a session is called, what it is doing, and how one goes on with it: as people say it. */

export function titleOf(session: Session): string {
  return session.name ?? session.title ?? session.firstPrompt ?? 'Untitled session';
}

/** What others tell of a session, under the name that the list has for it now. */
export function titled<Item extends { sessionId: string; title: string | null }>(
  sessions: ReadonlyMap<string, Session>,
  items: readonly Item[],
): Item[] {
  return items.map((one) => {
    const session = sessions.get(one.sessionId);
    return session ? { ...one, title: titleOf(session) } : one;
  });
}

/** How far a session is, in as few words as a row has room for; null where that is not known. */
export function farWords({ progress, givenUp }: Session): string | null {
  if (givenUp !== null) return 'given up';
  return progress && `${progress.percent}\u00a0%`;
}

/** The same, in whole words. */
export function progressWords(progress: Progress | null): string | null {
  if (progress === null) return null;
  const { of, items, done, percent } = progress;
  const what = of === 'checklist' ? 'items of the checklist covered' : 'tasks done';
  return `${done} of ${items} ${what} (${percent}\u00a0%)`;
}

/** Which colour a state has; the words are said beside it. */
export type StatusTone =
  | 'quiet'
  | 'unread'
  | 'running'
  | 'waiting'
  | 'terminal'
  | 'archived'
  | 'broken';

export interface SessionStatus {
  tone: StatusTone;
  words: string;
  /** Somebody else runs it: a ring around the dot says so. */
  elsewhere?: true;
  /** Since when it is so, where it is known. */
  since?: string | null;
}

/** What is known of a session beside its row in the list. */
export interface LiveState {
  attention: readonly AskedAttention[];
  doing: string | null;
  unread: boolean;
}

const NOTHING_LIVE: LiveState = { attention: [], doing: null, unread: false };

/** The code of a session whose turn the keeper could not see through. */
export const TURN_INTERRUPTED = 'turn_interrupted';

export function statusOf(session: Session, live: LiveState = NOTHING_LIVE): SessionStatus {
  const where = whereWords(session);
  // in mid-turn a session of ours is still ours, although somebody has resumed it
  if (where === null || session.origin === 'gateway') return statusHere(session, live);
  const elsewhere = statusElsewhere(session, live, where);
  return { ...elsewhere, elsewhere: true, since: session.presence?.since ?? null };
}

function statusElsewhere(session: Session, live: LiveState, where: string): SessionStatus {
  const wants = live.attention.length > 0;
  switch (session.state) {
    case 'error':
      return statusHere(session, live);
    case 'waiting':
      return {
        tone: 'waiting',
        words: wants ? wantedBy(live.attention) : `${where} · ${waitingWords(session.presence)}`,
      };
    case 'starting':
    case 'running':
      if (wants) return { tone: 'waiting', words: wantedBy(live.attention) };
      return { tone: 'running', words: `${where} · ${live.doing ?? 'busy'}` };
    case 'idle':
      return { tone: 'terminal', words: `${where} · idle` };
    default:
      return session.state satisfies never;
  }
}

function statusHere(session: Session, live: LiveState): SessionStatus {
  switch (session.state) {
    case 'error':
      return { tone: 'broken', words: session.error?.message ?? 'transcript cannot be read' };
    case 'waiting':
      return { tone: 'waiting', words: wantedBy(live.attention) };
    case 'starting':
      return { tone: 'running', words: 'starting…' };
    case 'running':
      if (live.attention.length > 0) return { tone: 'waiting', words: wantedBy(live.attention) };
      return { tone: 'running', words: live.doing ?? 'running…' };
    case 'idle':
      // nothing runs, and nothing will before a person has answered
      if (live.attention.some(({ kind }) => kind === 'ceiling')) {
        return { tone: 'waiting', words: wantedBy(live.attention) };
      }
      if (session.archived) return { tone: 'archived', words: 'deleted, kept in the archive' };
      if (session.error?.code === TURN_INTERRUPTED) return { tone: 'broken', words: 'interrupted' };
      // nothing goes on there before a person has seen it
      if (session.error) return { tone: 'broken', words: 'failed' };
      return live.unread
        ? { tone: 'unread', words: 'new messages' }
        : { tone: 'quiet', words: 'idle' };
    default:
      return session.state satisfies never;
  }
}

function wantedBy(attention: readonly AskedAttention[]): string {
  const [first, ...others] = attention;
  if (!first) return 'waiting for you';
  return others.length > 0 ? `${sentenceOf(first)} · ${others.length} more` : sentenceOf(first);
}

/** As much of an open question as its words need. */
export interface AskedAttention {
  kind: AttentionKind;
  tool: string | null;
  input: unknown;
}

/** What a session wants of the person, as one says it after its name: "wants to run npm test". */
export function sentenceOf(attention: AskedAttention): string {
  switch (attention.kind) {
    case 'plan':
      return 'has a plan ready';
    case 'ceiling':
      return 'has reached the ceiling of its item';
    case 'question':
      return questionOf(attention.input);
    case 'permission': {
      const action = toolActionOf(attention.tool, attention.input);
      return `wants to ${action.verb}${action.object === null ? '' : ` ${action.object}`}`;
    }
    default:
      return attention.kind satisfies never;
  }
}

/** What a session does just now, by the last tool it called: "running npm test…". */
export function activityOf(tool: string | null, input: unknown): string {
  const action = toolActionOf(tool, input);
  return `${action.doing}${action.object === null ? '' : ` ${action.object}`}…`;
}

function questionOf(input: unknown): string {
  const questions = fieldOf(input, 'questions');
  const all = Array.isArray(questions) ? questions : [];
  const first = wordsOf(fieldOf(all[0], 'question'));
  if (first === null) return 'asks you something';
  return all.length > 1 ? `asks: ${first} (and ${all.length - 1} more)` : `asks: ${first}`;
}

interface ToolAction {
  verb: string;
  doing: string;
  object: string | null;
}

/** The verbs of the tools we know; the last is the field of the input that names the object. */
const TOOL_ACTIONS: Readonly<
  Record<string, readonly [verb: string, doing: string, object: string]>
> = {
  Bash: ['run', 'running', 'command'],
  Edit: ['edit', 'editing', 'file_path'],
  MultiEdit: ['edit', 'editing', 'file_path'],
  NotebookEdit: ['edit', 'editing', 'notebook_path'],
  Write: ['write', 'writing', 'file_path'],
  Read: ['read', 'reading', 'file_path'],
  Glob: ['look for', 'looking for', 'pattern'],
  Grep: ['search for', 'searching for', 'pattern'],
  LS: ['list', 'listing', 'path'],
  WebFetch: ['fetch from', 'fetching from', 'url'],
  WebSearch: ['search the web for', 'searching the web for', 'query'],
  Skill: ['use the skill', 'using the skill', 'skill'],
  SlashCommand: ['run', 'running', 'command'],
  Agent: ['start a subagent:', 'subagent:', 'description'],
  Task: ['start a subagent:', 'subagent:', 'description'],
};
const PLAIN_TOOL_ACTIONS: Readonly<Record<string, readonly [verb: string, doing: string]>> = {
  TodoWrite: ['write down its tasks', 'planning'],
  BashOutput: ['look at a running command', 'waiting for a command'],
  KillShell: ['stop a running command', 'stopping a command'],
  EnterPlanMode: ['plan first', 'planning'],
};
const OF_A_SERVER = /^mcp__(.+?)__(.+)$/;

function toolActionOf(tool: string | null, input: unknown): ToolAction {
  const name = tool ?? '';
  if (Object.hasOwn(PLAIN_TOOL_ACTIONS, name)) {
    const [verb, doing] = PLAIN_TOOL_ACTIONS[name] as readonly [string, string];
    return { verb, doing, object: null };
  }
  if (Object.hasOwn(TOOL_ACTIONS, name)) {
    const [verb, doing, field] = TOOL_ACTIONS[name] as readonly [string, string, string];
    const object = objectOf(field, fieldOf(input, field));
    if (object !== null) return { verb, doing, object };
  }
  const served = OF_A_SERVER.exec(name);
  const called = served ? `${served[2]} of ${served[1]}` : name;
  return { verb: 'use', doing: 'using', object: wordsOf(called) ?? 'a tool' };
}

/** What a tool is wanted for: "Wants to run"; null where its own name says it best. */
export function requestWords(tool: string): string | null {
  const [verb] = (Object.hasOwn(TOOL_ACTIONS, tool) && TOOL_ACTIONS[tool]) || [];
  return verb === undefined ? null : `Wants to ${verb}`;
}

function objectOf(field: string, value: unknown): string | null {
  const words = wordsOf(value);
  if (words === null) return null;
  if (field.endsWith('path')) return words.split(/[\\/]/).findLast(Boolean) ?? words;
  if (field === 'url') return URL.canParse(words) ? new URL(words).host || words : words;
  return words;
}

function fieldOf(input: unknown, field: string): unknown {
  return typeof input === 'object' && input !== null
    ? (input as Readonly<Record<string, unknown>>)[field]
    : undefined;
}

const MAX_OBJECT = 120;

/** One line that is safe to show: whoever wrote it may have wanted it to look like another. */
function wordsOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const words = value.replaceAll(CONTROLS, ' ').replaceAll(/\s+/g, ' ').trim();
  if (words === '') return null;
  return words.length > MAX_OBJECT ? `${words.slice(0, MAX_OBJECT - 1).trimEnd()}…` : words;
}

/** What of a conversation is missing; null where nothing is. */
export function missingWords({ unreadable, error }: Session): string | null {
  // one that cannot be shown says so itself
  if (unreadable === 0 || error?.code.startsWith('transcript_')) return null;
  return `${counted(unreadable, 'line')} of the transcript cannot be read: what ${unreadable === 1 ? 'it says' : 'they say'} is not shown.`;
}

/** The second line of a row: the last prompt, or, where the title says that already, more. */
export function summaryOf(session: Session): string | null {
  const title = titleOf(session);
  const prompt = [session.lastPrompt, session.firstPrompt].find(
    (prompt) => prompt !== null && prompt !== title,
  );
  if (prompt !== undefined) return prompt;
  return session.messageCount === null ? session.workdir : counted(session.messageCount, 'message');
}

const PLAIN_WORD = /^[A-Za-z0-9_@%+=:,./-]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;
const CONTROLS = new RegExp(CONTROL, 'g');

function shellWord(word: string): string {
  return PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** What is pasted into a terminal, one part a command. */
export type CommandParts = readonly string[];

/**
 * A command to paste into a terminal. The directory comes out of a transcript, which anybody may
 * have written: it is quoted, and left out where it could make the terminal do something else.
 */
export function resumeCommand(session: Session): CommandParts {
  const resume = `claude --resume ${shellWord(session.id)}`;
  const workdir = session.workdir;
  if (workdir === null || CONTROL.test(workdir) || !workdir.startsWith('/')) return [resume];
  return [`cd ${shellWord(workdir)} && `, resume];
}
