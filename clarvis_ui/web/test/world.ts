import type { KeeperEvent, Position } from '../src/transport/events';
import type { FailedTurn } from '../src/transport/failed';
import type { ConversationPage, Message, Partial, Queued, Turn } from '../src/transport/messages';
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
    kept: [],
    position: `${EPOCH}:0`,
    ...changes,
  };
}

interface Moment {
  messages: readonly Message[];
  partial: Partial | null;
  turn: Turn | null;
  queue: readonly Queued[];
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
  | {
      do: 'fail';
      ours: boolean;
      /** Whether the prompt came to be part of the transcript. */
      written: boolean;
      /** What was streamed of the reply. */
      pieces: readonly string[];
      outcome: 'failed' | 'interrupted';
      /** In which order the end is told, and whether by all of it. */
      ends: readonly (typeof ENDS)[number][];
    }
  /** One that failed before it was written is sent again, and answered. */
  | { do: 'again'; which: number };

export type WorldEvent = KeeperEvent | { type: 'resync' };

/** A turn that failed, as it has to be told. */
export interface Failure {
  uuid: string;
  ours: boolean;
  written: boolean;
  streamed: string;
  /** The position from which on it is told. */
  told: number;
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
    this.now = { messages: old, partial: null, turn: null, queue: [], failed: [] };
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
          const known = { messageId: uuid, index, kind, tool: null, toolUseId: null };
          let text = '';
          for (const piece of pieces) {
            text += piece;
            this.tell(
              { type: 'message/delta', ...known, text: piece },
              { partial: { ...known, text } },
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
        this.fail(step, uuid, timestamp);
        break;
      case 'again': {
        const left = this.failures.filter((one) => !one.written && one.again === Infinity);
        const failure = left[step.which % Math.max(1, left.length)];
        if (failure === undefined) break;
        failure.again = this.events.length + 1;
        const text = `words of ${failure.uuid}`;
        if (failure.ours) this.ours.set(failure.again, { uuid: failure.uuid, text, copied: false });
        const failed = this.now.failed
          .map((turn) => (turn.uuid === failure.uuid ? { ...turn, prompt: null } : turn))
          .filter((turn) => turn.uuid !== failure.uuid || turn.blocks.length > 0);
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

  private fail(step: Extract<Step, { do: 'fail' }>, uuid: string, timestamp: string): void {
    const { ours, written, pieces, outcome } = step;
    const text = `words of ${uuid}`;
    if (ours) this.ours.set(this.events.length + 1, { uuid, text, copied: false });
    const turn = { uuid, started: null, status: null };
    this.tell({ type: 'turn/started', uuid }, { turn, partial: null });
    if (written) this.add(message(uuid, { timestamp }));
    const known = { messageId: `m-${uuid}`, index: 0, kind: 'text' as const };
    const more = { tool: null, toolUseId: null };
    let streamed = '';
    for (const piece of pieces) {
      streamed += piece;
      const partial = { ...known, ...more, text: streamed };
      this.tell({ type: 'message/delta', ...known, ...more, text: piece }, { partial });
    }
    const error = { code: 'cli_crashed', message: `why ${uuid} failed` };
    const failed: FailedTurn = {
      uuid,
      ended: timestamp,
      error,
      had: written || streamed !== '',
      prompt: written ? null : { uuid, content: [{ type: 'text', text }] },
      messages: [],
      blocks: streamed === '' ? [] : [{ ...known, ...more, text: streamed }],
    };
    const over = { turn: null, partial: null, failed: [...this.now.failed, failed] };
    for (const end of step.ends) {
      if (end === 'session/failed') {
        if (outcome === 'failed') this.tell({ type: end, uuid, error }, over);
      } else if (end === 'turn/finished') {
        this.tell(
          { type: end, uuid, outcome, error: outcome === 'failed' ? error.message : null },
          over,
        );
      } else {
        this.tell({ type: end }, over);
      }
    }
    const told = this.events.length;
    this.failures.push({ uuid, ours, written, streamed, told, again: Infinity });
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
      queue: [...moment.queue],
      failed: [...moment.failed],
      before: first > 0 ? (messages[0]?.uuid ?? null) : null,
      position: `${EPOCH}:${seq}`,
    });
  }
}
