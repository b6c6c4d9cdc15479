import type { KeeperEvent, Position } from '../src/transport/events';
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
    position: `${EPOCH}:0`,
    ...changes,
  };
}

interface Moment {
  messages: readonly Message[];
  partial: Partial | null;
  turn: Turn | null;
  queue: readonly Queued[];
}

/** A step of what happens in a session; numbers choose among what there is. */
export type Step =
  | { do: 'prompt'; ours: boolean }
  | { do: 'copy' }
  | { do: 'reply'; blocks: readonly string[][] }
  | { do: 'insert'; behind: number }
  | { do: 'move'; which: number; behind: number }
  | { do: 'change'; which: number }
  | { do: 'queue'; uuid: string; state: 'queued' | 'held' };

/** A keeper in memory that can answer for every moment of its past. */
export class World {
  /** What happened at each position; position 0 is before everything. */
  readonly events: KeeperEvent[] = [];
  readonly moments: Moment[] = [];
  /** Position → the uuid of the message of ours that becomes true there. */
  readonly ours = new Map<number, { uuid: string; text: string; copied: boolean }>();
  private now: Moment;

  constructor(before: number, steps: readonly Step[]) {
    const old = Array.from({ length: before }, (_, n) => message(`old-${n}`));
    this.now = { messages: old, partial: null, turn: null, queue: [] };
    this.moments.push(this.now);
    steps.forEach((step, n) => {
      this.take(step, n);
    });
  }

  private tell(event: object, changes: globalThis.Partial<Moment>): void {
    const seq = this.events.length + 1;
    this.events.push({ ...event, ...at(seq) } as KeeperEvent);
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
      case 'queue': {
        const queue = [{ uuid: step.uuid, text: step.uuid, state: step.state, images: 0 }];
        this.tell({ type: 'queue/updated', queue }, { queue });
        break;
      }
    }
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
      before: first > 0 ? (messages[0]?.uuid ?? null) : null,
      position: `${EPOCH}:${seq}`,
    });
  }
}
