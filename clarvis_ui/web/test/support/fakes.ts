import type { Api } from '../../src/api/client';
import { failed, NOT_LOGGED_IN, type Outcome, success } from '../../src/api/result';
import type { Specification } from '../../src/api/resume';
import type { Wanted } from '../../src/api/search';
import type { Prompt } from '../../src/api/send';
import type { Health, Session, SessionsPage } from '../../src/api/sessions';
import type { TimelineQuery } from '../../src/api/timeline';
import type { PageVisibility } from '../../src/lib/poller';

/** A server in memory: what it has can be changed, and it can be away. */
export class FakeApi implements Api {
  rows: Session[] = [];
  pageSize = 200;
  scan: Health['scan'] = null;
  trouble: string | null = null;
  goodCode = 'GOOD';
  requests: string[] = [];
  /** Holds the answers to lists back until it is called. */
  release: (() => void) | null = null;
  held: Promise<void> = Promise.resolve();

  hold(): void {
    this.held = new Promise((resolve) => {
      this.release = resolve;
    });
  }

  private readonly loggedOutListeners = new Set<() => void>();

  onLoggedOut = (listener: () => void): (() => void) => {
    this.loggedOutListeners.add(listener);
    return () => void this.loggedOutListeners.delete(listener);
  };

  private answer<T>(what: string, value: () => T): Outcome<T> {
    this.requests.push(what);
    if (this.trouble === NOT_LOGGED_IN) for (const listener of this.loggedOutListeners) listener();
    return this.trouble === null ? success(value()) : failed(this.trouble, `said ${this.trouble}`);
  }

  async health(): Promise<Outcome<Health>> {
    return this.answer('health', () => ({
      version: '0.1.0',
      sessions: this.rows.length,
      scan: this.scan,
    }));
  }

  async sessions(cursor: string | null): Promise<Outcome<SessionsPage>> {
    const outcome = this.answer(`sessions ${cursor ?? 'first'}`, () => {
      const from = Number(cursor ?? 0);
      const end = from + this.pageSize;
      return {
        sessions: this.rows.slice(from, end),
        cursor: end < this.rows.length ? String(end) : null,
        position: null,
      };
    });
    await this.held;
    return outcome;
  }

  async giveUp(id: string, givenUp: boolean): Promise<Outcome<Session>> {
    return this.answer('giveUp', () => {
      const at = givenUp ? '2026-03-01T12:00:00Z' : null;
      this.rows = this.rows.map((row) => (row.id === id ? { ...row, givenUp: at } : row));
      return this.rows.find((row) => row.id === id) as Session;
    });
  }

  async specification(): Promise<Outcome<Specification>> {
    return failed('specification_not_found', 'No specification.');
  }

  async rename(id: string, name: string | null): Promise<Outcome<Session>> {
    return this.answer('rename', () => {
      this.rows = this.rows.map((row) => (row.id === id ? { ...row, name } : row));
      return this.rows.find((row) => row.id === id) as Session;
    });
  }

  async logIn(code: string): Promise<Outcome<null>> {
    this.requests.push(`logIn ${code}`);
    if (code !== this.goodCode) return failed('wrong_code', 'This code is wrong.');
    this.trouble = null;
    return success(null);
  }

  async logOut(): Promise<Outcome<null>> {
    return this.answer('logOut', () => null);
  }

  /** What is answered to the calls below, by name; a function makes an answer for its arguments. */
  answers: Record<string, unknown> = {};

  // biome-ignore lint/suspicious/noExplicitAny: a fake answers whatever it is told to
  private async say(what: string, ...given: unknown[]): Promise<Outcome<any>> {
    const outcome = this.answer([what, ...given].map(words).join(' '), () => {
      const made = this.answers[what];
      return typeof made === 'function' ? made(...given) : (made ?? null);
    });
    await this.held;
    return outcome;
  }

  conversation = (id: string, before: string | null, limit: number) =>
    this.say('conversation', id, before, limit);
  subagent = (id: string, agentId: string) => this.say('subagent', id, agentId);
  send = (prompt: Prompt, _signal?: AbortSignal) => this.say('send', prompt);
  route = (words: string) => this.say('route', words);
  routings = (id: string) => this.say('routings', id);
  search = (wanted: Wanted, cursor: string | null) => this.say('search', wanted, cursor);
  archive = () => this.say('archive');
  resume = (id: string) => this.say('resume', id);
  recap = (id: string) => this.say('recap', id);
  recapLevel = () => this.say('recapLevel');
  prefer = (level: string) => this.say('prefer', level);
  timeline = (query: TimelineQuery, prompts: number) => this.say('timeline', query, prompts);
  usage = (by: string, after: string | null) => this.say('usage', by, after);
  switchArchive = (on: boolean) => this.say('switchArchive', on);
  restore = (id: string) => this.say('restore', id);
  interrupt = (id: string) => this.say('interrupt', id);
  interruptedTurn = (id: string) => this.say('left', id);
  continueTurn = (id: string) => this.say('continueTurn', id);
  setMode = (id: string, mode: object) => this.say('setMode', id, mode);
  fork = (id: string, at: string | null) => this.say('fork', id, at);
  family = (id: string) => this.say('family', id);
  branches = (id: string, of: readonly string[]) => this.say('branches', id, of);
  branch = (one: object, other: object, after: string | null) =>
    this.say('branch', one, other, after);
  commonPast = (one: object, other: object, before: string | null) =>
    this.say('commonPast', one, other, before);
  branchWork = (one: object, other: object) => this.say('branchWork', one, other);
  settings = (id: string) => this.say('settings', id);
  waiting = (id: string) => this.say('waiting', id);
  sendHeld = (id: string, uuids: readonly string[], wait: boolean) =>
    this.say('sendHeld', id, uuids, wait);
  cancelQueued = (id: string, uuid: string) => this.say('cancelQueued', id, uuid);
  offers = (id: string) => this.say('offers', id);
  offersIn = (workdir: string) => this.say('offersIn', workdir);
  attention = () => this.say('attention');
  resolve = (attentionId: string, answer: object, by: string) =>
    this.say('resolve', attentionId, answer, by);
  directories = (path: string | null) => this.say('directories', path);
}

function words(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** What a browser remembers, in memory. */
export class FakeStorage {
  readonly kept = new Map<string, string>();
  full = false;

  get length(): number {
    return this.kept.size;
  }

  key(index: number): string | null {
    return [...this.kept.keys()][index] ?? null;
  }

  getItem(key: string): string | null {
    return this.kept.get(key) ?? null;
  }

  setItem(key: string, value: string): void {
    if (this.full) throw new Error('full');
    this.kept.set(key, value);
  }

  removeItem(key: string): void {
    this.kept.delete(key);
  }
}

/** A page that is looked at until it is hidden. */
export class FakeAttention implements PageVisibility {
  hidden = false;
  private listeners = new Set<() => void>();

  isHidden(): boolean {
    return this.hidden;
  }

  onReturn = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  comeBack(): void {
    this.hidden = false;
    for (const listener of this.listeners) listener();
  }
}
