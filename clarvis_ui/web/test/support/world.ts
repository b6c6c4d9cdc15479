import type { EventOf } from '../../src/api/eventBus';
import type { Position } from '../../src/api/events';
import type { FailedTurn } from '../../src/api/failedTurns';
import type { ConversationPage, Message, Partial, Queued, Turn } from '../../src/api/messages';
import type { CONVERSATION_EVENTS } from '../../src/conversation/conversation';
import { sample } from './samples';

export const SESSION = sample(1).id;
export const EPOCH = 'e1';

export function message(uuid: string, changes: globalThis.Partial<Message> = {}): Message {
  return {
    uuid,
    sessionId: SESSION,
    role: 'user',
    content: [{ type: 'text', text: `words of ${uuid}` }],
    timestamp: '2025-10-01T08:00:00.000Z',
    kind: 'prompt',
    messageId: null,
    parentUuid: null,
    model: null,
    usage: null,
    agentId: null,
    parentToolUseId: null,
    branch: null,
    deniedBy: null,
    ...changes,
  };
}

export function at(seq: number, epoch = EPOCH): { position: Position; sessionId: string } {
  return { position: { epoch, seq }, sessionId: SESSION };
}

export function page(changes: globalThis.Partial<ConversationPage> = {}): ConversationPage {
  return {
    session: sample(1),
    messages: [],
    before: null,
    branches: [],
    queue: [],
    partial: null,
    turn: null,
    failed: [],
    interruptedQueue: [],
    position: `${EPOCH}:0`,
    ...changes,
  };
}

interface Moment {
  messages: readonly Message[];
  partial: Partial | null;
  turn: Turn | null;
  /** What waits; what the turn that runs began with, while no transcript has it. */
  queue: readonly Queued[];
  taken: Queued | null;
  failed: readonly FailedTurn[];
}

/** The events of the end of a turn; `resync` asks the page to read again. */
export const ENDS = ['session/failed', 'turn/finished', 'resync'] as const;

/** A step of what happens in a session; numbers choose among what there is. */
export type Step =
  | { do: 'prompt'; ours: boolean }
  | { do: 'copy' }
  | { do: 'reply'; blocks: readonly string[][] }
  | { do: 'insert'; behind: number }
  | { do: 'move'; which: number; behind: number }
  | { do: 'change'; which: number }
  | { do: 'queue'; uuid: string; state: 'queued' | 'held' }
  | ({ do: 'fail'; ours: boolean } & Failing)
  /** One that failed before it was written is sent again: it is answered, or fails once more. */
  | { do: 'again'; which: number; failing: Failing | null };

/** How a turn fails. */
export interface Failing {
  /** Whether the prompt came to be part of the transcript. */
  written: boolean;
  /** Whether Claude had said something whole that no transcript has. */
  spoke: boolean;
  /** What was streamed of the reply. */
  pieces: readonly string[];
  outcome: 'failed' | 'interrupted';
  /** In which order the end is told; it asks to read again where the page cannot know all of it. */
  ends: readonly (typeof ENDS)[number][];
  /** After how many of these the transcript turns out to have the prompt, and what was streamed. */
  late: { prompt: number | null; reply: number | null };
}

export type WorldEvent = EventOf<(typeof CONVERSATION_EVENTS)[number]> | { type: 'resync' };

/** A turn that failed, as it has to be told. */
export interface Failure {
  uuid: string;
  ours: boolean;
  reason: string;
  /** What Claude had said in it. */
  words: readonly string[];
  /** The position at which the transcript has the prompt. */
  written: number;
  /** The position at which it ends; from which on events say why; and from which on a page does. */
  from: number;
  saidFrom: number;
  toldAt: number;
  /** The position at which it is sent again. */
  again: number;
}

/** A keeper in memory that can answer for every moment of its past. */
export class World {
  /** What happened at each position; position 0 is before everything. */
  readonly events: WorldEvent[] = [];
  readonly moments: Moment[] = [];
  readonly failures: Failure[] = [];
  /** Position → the uuid of the message of ours that becomes true there. */
  readonly ours = new Map<number, { uuid: string; text: string; copied: boolean }>();
  private now: Moment;

  constructor(before: number, steps: readonly Step[]) {
    const old = Array.from({ length: before }, (_, n) => message(`old-${n}`));
    this.now = { messages: old, partial: null, turn: null, queue: [], taken: null, failed: [] };
    this.moments.push(this.now);
    steps.forEach((step, n) => {
      this.take(step, n);
    });
  }

  private tell(event: object, changes: globalThis.Partial<Moment>): void {
    const seq = this.events.length + 1;
    this.events.push({ ...event, ...at(seq) } as WorldEvent);
    this.now = { ...this.now, ...changes };
    this.moments.push(this.now);
  }

  private add(added: Message, changes: globalThis.Partial<Moment> = {}): void {
    const messages = [...this.now.messages, added];
    this.tell({ type: 'message/added', message: added, after: null }, { messages, ...changes });
  }

  private take(step: Step, n: number): void {
    const uuid = `new-${n}`;
    // the keeper's clock goes on; old messages are all from before
    const timestamp = new Date(Date.UTC(2025, 9, 2) + n * 1000).toISOString();
    const { messages } = this.now;
    switch (step.do) {
      case 'prompt':
        if (step.ours) {
          this.ours.set(this.events.length + 1, { uuid, text: `words of ${uuid}`, copied: false });
        }
        this.add(message(uuid, { timestamp }));
        break;
      case 'copy': {
        // Claude Code wrote ours down under a uuid of its own
        const text = `words of ${uuid}`;
        this.ours.set(this.events.length + 1, { uuid: `lost-${n}`, text, copied: true });
        this.add(message(uuid, { timestamp }));
        break;
      }
      case 'reply': {
        const turn = { uuid, started: null, status: null };
        this.tell({ type: 'turn/started', uuid }, { turn, partial: null });
        step.blocks.forEach((pieces, index) => {
          const kind = 'text' as const;
          const opened = { messageId: uuid, index, kind, tool: null, toolUseId: null };
          let text = '';
          for (const piece of pieces) {
            text += piece;
            this.tell(
              { type: 'message/delta', ...opened, text: piece },
              { partial: { ...opened, text } },
            );
          }
          const content = [{ type: 'text', text }];
          const block = { role: 'assistant', kind: 'reply', messageId: uuid } as const;
          this.add(message(`${uuid}-${index}`, { ...block, content, timestamp }), {
            partial: null,
          });
        });
        this.tell(
          { type: 'turn/finished', uuid, outcome: 'done', error: null },
          { turn: null, partial: null },
        );
        break;
      }
      case 'insert': {
        if (messages.length === 0) break;
        const behind = step.behind % messages.length;
        const added = message(uuid, { timestamp });
        this.tell(
          { type: 'message/added', message: added, after: messages[behind]?.uuid },
          { messages: messages.toSpliced(behind + 1, 0, added) },
        );
        break;
      }
      case 'move': {
        // only what was written just now is put into another order
        if (messages.length < 4) break;
        const moved = messages[messages.length - 1 - (step.which % 3)] as Message;
        const others = messages.filter((other) => other !== moved);
        const behind = others.length - 1 - (step.behind % 2);
        this.tell(
          { type: 'message/added', message: moved, after: others[behind]?.uuid },
          { messages: others.toSpliced(behind + 1, 0, moved) },
        );
        break;
      }
      case 'change': {
        if (messages.length < 2) break;
        const which = 1 + (step.which % (messages.length - 1));
        const changed = { ...(messages[which] as Message), model: `changed at ${n}` };
        const after = messages[which - 1]?.uuid;
        this.tell(
          { type: 'message/added', message: changed, after },
          { messages: messages.with(which, changed) },
        );
        break;
      }
      case 'fail':
        this.fail(step, uuid, n, timestamp);
        break;
      case 'again': {
        const unsent = this.failures.filter(
          (one) => one.written === Infinity && one.again === Infinity,
        );
        const failure = unsent[step.which % Math.max(1, unsent.length)];
        if (failure === undefined) break;
        failure.again = this.events.length + 1;
        const failed = this.now.failed
          .map((turn) => (turn.uuid === failure.uuid ? { ...turn, prompt: null } : turn))
          .filter(
            ({ uuid, blocks, messages }) =>
              uuid !== failure.uuid || blocks.length > 0 || messages.length > 0,
          );
        if (step.failing) {
          this.now = { ...this.now, failed };
          this.fail({ ...step.failing, ours: failure.ours }, failure.uuid, n, timestamp);
          break;
        }
        if (failure.ours) this.send(failure.uuid);
        const turn = { uuid: failure.uuid, started: null, status: null };
        this.tell({ type: 'turn/started', uuid: failure.uuid }, { turn, partial: null, failed });
        this.add(message(failure.uuid, { timestamp }));
        this.tell(
          { type: 'turn/finished', uuid: failure.uuid, outcome: 'done', error: null },
          { turn: null, partial: null },
        );
        break;
      }
      case 'queue': {
        const queue = [{ uuid: step.uuid, text: step.uuid, state: step.state, images: 0 }];
        this.tell({ type: 'queue/updated', queue }, { queue });
        break;
      }
    }
  }

  /** Ours, which is on the page before anything happens with it here. */
  private send(uuid: string): void {
    this.ours.set(this.events.length + 1, { uuid, text: `words of ${uuid}`, copied: false });
  }

  private fail(how: Failing & { ours: boolean }, uuid: string, n: number, timestamp: string): void {
    const { ours, pieces, outcome, ends, late } = how;
    if (ours) this.send(uuid);
    const id = `${uuid}-${n}`;
    let written = Infinity;
    const turn = { uuid, started: null, status: null };
    const taken = { uuid, text: `words of ${uuid}`, images: 0, state: 'taken' as const };
    this.tell({ type: 'queue/updated', queue: [taken, ...this.now.queue] }, { taken });
    this.tell({ type: 'turn/started', uuid }, { turn, partial: null });
    const write = (changes: () => globalThis.Partial<Moment>): void => {
      written = this.events.length + 1;
      const messages = [...(changes().messages ?? this.now.messages), message(uuid, { timestamp })];
      const event = { type: 'message/added', message: messages.at(-1), after: null };
      this.tell(event, { ...changes(), messages, taken: null });
    };
    if (how.written) write(() => ({}));
    const reply = { role: 'assistant', kind: 'reply', timestamp } as const;
    const whole = message(`told-${id}`, { ...reply, messageId: `t-${id}` });
    if (how.spoke) this.add(whole);
    const block = { messageId: `m-${id}`, index: 0, kind: 'text' as const };
    const more = { tool: null, toolUseId: null };
    let streamed = '';
    pieces.forEach((piece, at) => {
      const text = at === 0 ? `half of ${id}: ${piece}` : piece;
      streamed += text;
      const partial = { ...block, ...more, text: streamed };
      this.tell({ type: 'message/delta', ...block, ...more, text }, { partial });
    });
    const error = { code: 'cli_crashed', message: `why ${id} failed` };
    let isCut = streamed !== '';
    let isOver = false;
    const others = this.now.failed;
    // what the keeper tells of it from now on
    const state = (): globalThis.Partial<Moment> => ({
      turn: isOver ? null : turn,
      taken: isOver || written < Infinity ? null : taken,
      partial: isCut && !isOver ? { ...block, ...more, text: streamed } : null,
      failed: isOver ? [...others, failed()] : others,
      messages: this.now.messages.filter((one) => one.uuid !== whole.uuid || !isOver),
    });
    const failed = (): FailedTurn => ({
      uuid,
      ended: timestamp,
      error,
      had: written < Infinity || how.spoke || streamed !== '',
      prompt:
        written < Infinity ? null : { uuid, content: [{ type: 'text', text: `words of ${uuid}` }] },
      messages: how.spoke ? [whole] : [],
      blocks: isCut ? [{ ...block, ...more, text: streamed }] : [],
    });
    const arrive = (after: number): void => {
      if (late.prompt === after && written === Infinity) write(state);
      if (late.reply === after && isCut) {
        isCut = false;
        const content = [{ type: 'text', text: `${streamed}.` }];
        const added = message(`late-${id}`, { ...reply, content, messageId: `m-${id}` });
        const messages = [...this.now.messages, added];
        this.tell({ type: 'message/added', message: added, after: null }, { ...state(), messages });
      }
    };
    const isKnown = outcome === 'failed' && !how.spoke;
    let [from, saidFrom] = [Infinity, Infinity];
    ends.forEach((end, at) => {
      arrive(at);
      isOver = true;
      from = Math.min(from, this.events.length + 1);
      const tells = end !== 'resync' && outcome === 'failed';
      if (tells) saidFrom = Math.min(saidFrom, this.events.length + 1);
      if (end === 'session/failed') {
        if (tells) this.tell({ type: end, uuid, error }, state());
      } else if (end === 'turn/finished') {
        this.tell({ type: end, uuid, outcome, error: tells ? error.message : null }, state());
      } else {
        this.tell({ type: end }, state());
      }
    });
    if (!isKnown && !ends.includes('resync')) this.tell({ type: 'resync' }, state());
    arrive(ends.length);
    const words = [
      ...(streamed === '' ? [] : [streamed]),
      ...(how.spoke ? [`words of ${whole.uuid}`] : []),
    ];
    const reason = error.message;
    const toldAt = this.events.length;
    const again = Infinity;
    this.failures.push({ uuid, ours, reason, words, written, from, saidFrom, toldAt, again });
  }

  /** Whether the transcript comes to have it. */
  isWritten(uuid: string): boolean {
    return this.now.messages.some((message) => message.uuid === uuid);
  }

  get end(): number {
    return this.events.length;
  }

  moment(seq: number): Moment {
    return this.moments[seq] as Moment;
  }

  /** What `GET /sessions/{id}?limit=&before=` said at that position. */
  page(seq: number, limit: number, before: string | null = null): ConversationPage {
    const moment = this.moment(seq);
    const end =
      before === null
        ? moment.messages.length
        : moment.messages.findIndex((other) => other.uuid === before);
    const first = Math.max(0, end - limit);
    const messages = moment.messages.slice(first, end);
    return page({
      ...moment,
      messages,
      queue: [...(moment.taken ? [moment.taken] : []), ...moment.queue],
      failed: [...moment.failed],
      before: first > 0 ? (messages[0]?.uuid ?? null) : null,
      position: `${EPOCH}:${seq}`,
    });
  }
}
