import type { Denier } from '../../api/messages';
import { blocksOf, type ImageBlock, type ToolResult, type ToolUse } from '../../content/blocks';
import type { Todo, ToolCall } from '../../content/tools/toolSummary';
import type { VisibleMessage } from '../../conversation/conversation';
import { groupTools } from './groupTools';
import { asTyped, commandOf, noticeOf, retried, withoutJson } from './promptText';
import { isTaskCall, TaskList } from './tasks';

/** Messages → the rows of the page: results joined to their calls, asides folded away. */

interface Common {
  key: string;
  /** Of the message it shows; links to the message lead here. */
  uuid: string;
}

export type PromptRow = Common & {
  kind: 'prompt';
  message: VisibleMessage;
  text: string;
  images: readonly ImageBlock[];
};
export type TextRow = Common & { kind: 'text'; message: VisibleMessage; text: string };
export type ThinkingRow = Common & { kind: 'thinking'; text: string };
export type ToolRow = Common & {
  kind: 'tool';
  use: ToolUse;
  result: ToolResult | null;
  deniedBy: Denier | null;
  /** What a task is called that is spoken of by its number. */
  task: string | null;
  /** All tasks as they are after it, where it is a call about tasks. */
  tasks: readonly Todo[];
  running: boolean;
  /** Messages of the subagent that this call started, as far as they came by themselves. */
  nested: readonly VisibleMessage[];
  resultUuid: string | null;
};
export type ToolsRow = Common & { kind: 'tools'; calls: readonly ToolRow[] };
export type CommandRow = Common & { kind: 'command'; typed: string | null; output: string | null };
export type LineRow = Common & {
  kind: 'line';
  tone: 'quiet' | 'bad' | 'edge';
  words: string;
  detail: string | null;
  /** Later messages that say the same, told in this one line. */
  again: readonly string[];
};
export type BranchRow = Common & { kind: 'branch'; messages: readonly VisibleMessage[] };
export type TimeRow = Common & { kind: 'time'; timestamp: string };

export type Row =
  | PromptRow
  | TextRow
  | ThinkingRow
  | ToolRow
  | ToolsRow
  | CommandRow
  | LineRow
  | BranchRow
  | TimeRow;

export interface RowOptions {
  /** Whether a turn runs: calls without a result may still get one. */
  running: boolean;
  /** Whether the beginning is missing: results may belong to calls that are not here yet. */
  hasOlder: boolean;
}

export function callOf({ use, result, deniedBy, task, running }: ToolRow): ToolCall {
  return { id: use.id, name: use.name, input: use.input, result, deniedBy, task, running };
}

export function rowsOf(messages: readonly VisibleMessage[], circumstances: RowOptions): Row[] {
  return new Reading(messages, circumstances).rows();
}

const PAUSE_MS = 3 * 60 * 60 * 1000;

class Reading {
  private readonly results = new Map<string, { result: ToolResult; message: VisibleMessage }>();
  private readonly nested = new Map<string, VisibleMessage[]>();
  private readonly main: VisibleMessage[] = [];
  private readonly calls = new Set<string>();
  private readonly tasks = new TaskList();
  private readonly built: Row[] = [];
  private lastTime: number | null = null;

  constructor(
    messages: readonly VisibleMessage[],
    private readonly circumstances: RowOptions,
  ) {
    for (const message of messages) {
      if (message.parentToolUseId !== null) {
        const aside = this.nested.get(message.parentToolUseId);
        if (aside) aside.push(message);
        else this.nested.set(message.parentToolUseId, [message]);
        continue;
      }
      this.main.push(message);
      for (const block of blocksOf(message.content)) {
        if (block.type === 'tool_use') this.calls.add(block.id);
        else if (block.type === 'tool_result' && block.toolUseId) {
          this.results.set(block.toolUseId, { result: block, message });
        }
      }
    }
  }

  rows(): Row[] {
    const lastPrompt = this.main.findLastIndex((message) => message.kind === 'prompt');
    for (let at = 0; at < this.main.length; at += 1) {
      const message = this.main[at];
      if (!message) continue;
      if (message.branch !== null) {
        let end = at + 1;
        while (this.main[end]?.branch === message.branch) end += 1;
        const aside = this.main.slice(at, end);
        this.add({
          kind: 'branch',
          key: `branch/${message.uuid}`,
          uuid: message.uuid,
          messages: aside,
        });
        at = end - 1;
        continue;
      }
      this.time(message);
      this.message(message, this.circumstances.running && at >= lastPrompt);
    }
    return groupTools(this.built);
  }

  private add(row: Row): void {
    this.built.push(row);
  }

  /** After a long pause it helps to know when one went on. */
  private time(message: VisibleMessage): void {
    const now = message.timestamp === null ? Number.NaN : Date.parse(message.timestamp);
    if (Number.isNaN(now) || message.timestamp === null) return;
    const paused = this.lastTime !== null && now - this.lastTime > PAUSE_MS;
    if (paused && message.kind === 'prompt') {
      const { uuid, timestamp } = message;
      this.add({ kind: 'time', key: `time/${uuid}`, uuid, timestamp });
    }
    this.lastTime = now;
  }

  private message(message: VisibleMessage, running: boolean): void {
    switch (message.kind) {
      case 'prompt':
        this.prompt(message);
        break;
      case 'reply':
        this.reply(message, running);
        break;
      case 'toolResult':
        this.asides(message);
        break;
      case 'command':
        this.command(message);
        break;
      case 'compaction':
        this.compaction(message);
        break;
      case 'interruption':
        this.line(message, 'quiet', 'Interrupted', null);
        break;
      case 'error':
        this.failure(message);
        break;
      case 'notice': {
        const { words, detail } = noticeOf(wordsOf(message));
        this.line(message, 'quiet', words, detail);
        break;
      }
      default:
        message.kind satisfies never;
    }
  }

  private prompt(message: VisibleMessage): void {
    const blocks = blocksOf(message.content);
    const text = blocks
      .flatMap((block) => (block.type === 'text' ? [asTyped(block.text)] : []))
      .filter(Boolean)
      .join('\n\n');
    const images = blocks.filter((block) => block.type === 'image');
    if (!text && images.length === 0) return;
    const { uuid } = message;
    this.add({ kind: 'prompt', key: uuid, uuid, message, text, images });
  }

  private reply(message: VisibleMessage, running: boolean): void {
    const { uuid } = message;
    blocksOf(message.content).forEach((block, at) => {
      const key = at === 0 ? uuid : `${uuid}/${at}`;
      switch (block.type) {
        case 'text':
          if (block.text.trim() && block.text !== '(no content)') {
            this.add({ kind: 'text', key, uuid, message, text: block.text });
          }
          break;
        case 'thinking':
          // thoughts that were kept secret say nothing, not even that they were
          if (block.text.trim()) this.add({ kind: 'thinking', key, uuid, text: block.text });
          break;
        case 'tool_use':
          this.tool(block, key, uuid, running);
          break;
        case 'tool_result':
          break; // joined to its call
        case 'image':
          this.add({ kind: 'prompt', key, uuid, message, text: '', images: [block] });
          break;
        case 'unknown':
          this.line(
            message,
            'quiet',
            `A block of a kind that is not known: ${block.name}`,
            null,
            at,
          );
          break;
        default:
          block satisfies never;
      }
    });
  }

  private tool(use: ToolUse, key: string, uuid: string, running: boolean): void {
    const got = this.results.get(use.id);
    // asked before the call is played: it may be the one that deletes the task
    const task = this.tasks.named(use);
    this.add({
      kind: 'tool',
      key,
      uuid,
      use,
      result: got?.result ?? null,
      deniedBy: got?.result.isError ? got.message.deniedBy : null,
      task,
      tasks: isTaskCall(use) ? this.tasks.after(use, got?.result ?? null) : NO_TASKS,
      resultUuid: got?.message.uuid ?? null,
      running: running && !got,
      nested: this.nested.get(use.id) ?? NONE,
    });
  }

  /** A result stands with its call; what is left is a call that the transcript lost. */
  private asides(message: VisibleMessage): void {
    for (const block of blocksOf(message.content)) {
      if (block.type === 'text' && block.text.startsWith('[Request interrupted')) {
        this.line(message, 'quiet', 'Interrupted', null);
      }
      if (block.type !== 'tool_result' || this.calls.has(block.toolUseId)) continue;
      if (this.circumstances.hasOlder) continue;
      const use: ToolUse = {
        type: 'tool_use',
        id: block.toolUseId,
        name: 'A lost call',
        input: {},
      };
      this.tool(use, message.uuid, message.uuid, false);
    }
  }

  private command(message: VisibleMessage): void {
    const { typed, output } = commandOf(wordsOf(message));
    const last = this.built.at(-1);
    if (!typed && last?.kind === 'command' && last.output === null) {
      this.built[this.built.length - 1] = { ...last, output };
      return;
    }
    if (!typed && !output) return;
    const { uuid } = message;
    this.add({ kind: 'command', key: uuid, uuid, typed, output });
  }

  /** The boundary and the summary behind it are one line. */
  private compaction(message: VisibleMessage): void {
    const last = this.built.at(-1);
    const summary = message.role === 'user' ? wordsOf(message) : null;
    if (summary !== null && last?.kind === 'line' && last.tone === 'edge' && !last.detail) {
      this.built[this.built.length - 1] = { ...last, detail: summary };
      return;
    }
    this.line(message, 'edge', 'Compacted here', summary);
  }

  private failure(message: VisibleMessage): void {
    const { words, detail } = noticeOf(withoutJson(wordsOf(message)));
    // a reply says that all attempts failed; the system, that one did and another was made
    if (message.role !== 'system') {
      this.line(message, 'bad', words, detail);
      return;
    }
    const last = this.built.at(-1);
    const again = last?.kind === 'line' ? last.again : NO_UUIDS;
    if (last?.kind === 'line' && last.words === retried(words, again.length)) {
      const more = [...again, message.uuid];
      this.built[this.built.length - 1] = {
        ...last,
        words: retried(words, more.length),
        again: more,
      };
      return;
    }
    this.line(message, 'quiet', retried(words, 0), detail);
  }

  private line(
    message: VisibleMessage,
    tone: LineRow['tone'],
    words: string,
    detail: string | null,
    at = 0,
  ): void {
    const key = at === 0 ? message.uuid : `${message.uuid}/${at}`;
    this.add({ kind: 'line', key, uuid: message.uuid, tone, words, detail, again: NO_UUIDS });
  }
}

const NONE: readonly VisibleMessage[] = [];
const NO_UUIDS: readonly string[] = [];
const NO_TASKS: readonly Todo[] = [];

function wordsOf(message: VisibleMessage): string {
  return blocksOf(message.content)
    .flatMap((block) => (block.type === 'text' ? [block.text] : []))
    .join('\n');
}

/** The new rows, with those that did not change being the very same objects as before. */
export function reuseRows(before: ReadonlyMap<string, Row>, rows: readonly Row[]): Row[] {
  return rows.map((row) => {
    const old = before.get(row.key);
    return old && sameRow(old, row) ? old : row;
  });
}

function sameRow(one: Row, other: Row): boolean {
  return one.kind === other.kind && sameFields({ ...one }, { ...other });
}

function sameFields(one: Record<string, unknown>, other: Record<string, unknown>): boolean {
  for (const name in other) {
    if (!sameValue(one[name], other[name])) return false;
  }
  return true;
}

function sameValue(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
  return one.every((each, at) => {
    const counterpart = other[at];
    return (
      Object.is(each, counterpart) ||
      (isRecord(each) && isRecord(counterpart) && sameFields(each, counterpart))
    );
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a link to this message, or to this call, leads to this row. */
export function shows(row: Row, uuid: string): boolean {
  switch (row.kind) {
    case 'tool':
      return row.uuid === uuid || row.resultUuid === uuid || row.use.id === uuid;
    case 'tools':
      return row.calls.some((call) => shows(call, uuid));
    case 'branch':
      return row.messages.some((message) => message.uuid === uuid);
    case 'line':
      return row.uuid === uuid || row.again.includes(uuid);
    default:
      return row.uuid === uuid && row.kind !== 'time';
  }
}
