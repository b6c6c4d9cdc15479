import type { Attention } from '../src/state/heartbeat';
import type { Api } from '../src/transport/api';
import { failed, type Outcome, success } from '../src/transport/outcome';
import type { Health, Session, SessionsPage } from '../src/transport/wire';

/** A server in memory: what it has can be changed, and it can be away. */
export class FakeApi implements Api {
  rows: Session[] = [];
  pageSize = 200;
  scan: Health['scan'] = null;
  trouble: string | null = null;
  goodCode = 'GOOD';
  asked: string[] = [];
  /** Holds the answers to lists back until it is called. */
  release: (() => void) | null = null;
  private held: Promise<void> = Promise.resolve();

  hold(): void {
    this.held = new Promise((resolve) => {
      this.release = resolve;
    });
  }

  private answer<T>(what: string, value: () => T): Outcome<T> {
    this.asked.push(what);
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
      };
    });
    await this.held;
    return outcome;
  }

  async rename(id: string, name: string | null): Promise<Outcome<Session>> {
    return this.answer('rename', () => {
      this.rows = this.rows.map((row) => (row.id === id ? { ...row, name } : row));
      return this.rows.find((row) => row.id === id) as Session;
    });
  }

  async logIn(code: string): Promise<Outcome<null>> {
    this.asked.push(`logIn ${code}`);
    if (code !== this.goodCode) return failed('wrong_code', 'This code is wrong.');
    this.trouble = null;
    return success(null);
  }

  async logOut(): Promise<Outcome<null>> {
    return this.answer('logOut', () => null);
  }
}

/** A page that is looked at until it is hidden. */
export class FakeAttention implements Attention {
  hidden = false;
  private listeners = new Set<() => void>();

  isHidden(): boolean {
    return this.hidden;
  }

  onReturn(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  comeBack(): void {
    this.hidden = false;
    for (const listener of this.listeners) listener();
  }
}
