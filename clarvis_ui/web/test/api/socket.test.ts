import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { KeeperEvent } from '../../src/api/events';
import { createSocket, type KeeperSocket, type SocketState } from '../../src/api/socket';

/** The other end of a line, in memory. */
class FakeWebSocket {
  sent: unknown[] = [];
  closed = false;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  close(): void {
    this.closed = true;
  }

  say(frame: object): void {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }

  break(code = 1006): void {
    this.onclose?.({ code });
  }
}

let lines: FakeWebSocket[];
let states: SocketState[];
let delivered: KeeperEvent[];
let resyncs: (string | null)[];
let loggedOut: number;
let onLoggedOut: () => void;
let comeBack: () => void;
let socket: KeeperSocket;

const line = (): FakeWebSocket => lines.at(-1) as FakeWebSocket;
const position = (seq: number, epoch = 'e') => ({ epoch, seq });
const started = (seq: number) => ({
  type: 'turn/started',
  sessionId: 's',
  uuid: `u${seq}`,
  position: `e:${seq}`,
});

function welcome(seq = 10): void {
  line().say({ type: 'hello', version: 1, position: `e:${seq}` });
  line().say({ type: 'subscribed', replayed: 0 });
}

beforeEach(() => {
  vi.useFakeTimers();
  lines = [];
  states = [];
  delivered = [];
  resyncs = [];
  loggedOut = 0;
  onLoggedOut = () => {};
  socket = createSocket(
    {
      open() {
        lines.push(new FakeWebSocket());
        return line() as unknown as WebSocket;
      },
      onReturn(listener) {
        comeBack = listener;
        return () => {};
      },
      retryDelay: (failures) => failures * 1000,
    },
    {
      onState: (state) => states.push(state),
      onEvents: (events) => delivered.push(...events),
      onResync: (sessionId) => resyncs.push(sessionId),
      onLoggedOut: () => {
        loggedOut += 1;
        onLoggedOut();
      },
    },
  );
  socket.start();
});

afterEach(() => {
  socket.stop();
  vi.useRealTimers();
});

describe('a line', () => {
  test('subscribes to everything, from where the keeper is', () => {
    welcome(10);
    expect(line().sent).toEqual([{ type: 'subscribe', sessions: ['*'], since: 'e:10' }]);
    expect(states).toEqual(['connecting', 'live']);
  });

  test('begins at the earliest page that was read before it', () => {
    socket.remember(position(7));
    socket.remember(position(5));
    socket.remember(position(6));
    welcome(10);
    expect(line().sent).toEqual([{ type: 'subscribe', sessions: ['*'], since: 'e:5' }]);
    expect(socket.covers(position(5))).toBe(true);
  });

  test('knows which pages are from before it listened', () => {
    welcome(10);
    expect(socket.covers(position(9))).toBe(false);
    expect(socket.covers(position(10))).toBe(true);
    expect(socket.covers(position(3, 'another'))).toBe(true);
  });

  test('hands on together what comes together, in order', async () => {
    welcome();
    line().say(started(11));
    line().say(started(12));
    expect(delivered).toEqual([]);
    await vi.advanceTimersByTimeAsync(50);
    expect(delivered.map((event) => event.position?.seq)).toEqual([11, 12]);
  });

  test('lets what it does not know pass', async () => {
    welcome();
    line().say({ type: 'weather/changed', position: 'e:11' });
    line().onmessage?.({ data: 'not even JSON' });
    line().say(started(12));
    await vi.advanceTimersByTimeAsync(50);
    expect(delivered).toHaveLength(1);
  });
});

describe('a line that breaks', () => {
  test('is tried again, later each time, and goes on where it was', async () => {
    welcome();
    line().say(started(11));
    line().break();
    expect(delivered).toHaveLength(1);
    expect(states.at(-1)).toBe('away');
    await vi.advanceTimersByTimeAsync(1000);
    expect(lines).toHaveLength(2);
    line().break();
    await vi.advanceTimersByTimeAsync(1500);
    expect(lines).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(500);
    expect(lines).toHaveLength(3);
    line().say({ type: 'hello', position: 'e:20' });
    expect(line().sent).toEqual([{ type: 'subscribe', sessions: ['*'], since: 'e:11' }]);
  });

  test('is tried at once when somebody comes back', () => {
    line().break();
    comeBack();
    expect(lines).toHaveLength(2);
  });

  test('says so when something was missed', () => {
    welcome();
    line().say({ type: 'resync' });
    expect(resyncs).toEqual([null]);
    expect(states.at(-1)).toBe('live');
  });

  test('goes on from the page that was read after a resync', async () => {
    welcome();
    line().say({ type: 'resync' });
    socket.remember(position(30));
    line().break();
    await vi.advanceTimersByTimeAsync(1000);
    line().say({ type: 'hello', position: 'e:40' });
    expect(line().sent).toEqual([{ type: 'subscribe', sessions: ['*'], since: 'e:30' }]);
  });

  test('a resync of one session concerns no other', async () => {
    welcome();
    line().say(started(11));
    line().say({ type: 'resync', sessionId: 's', position: 'e:12' });
    expect(delivered).toHaveLength(1); // what came before it is told before it
    expect(resyncs).toEqual(['s']);
  });
});

describe('a line that is silent', () => {
  test('is asked for a sign, and given up without one', async () => {
    welcome();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(line().sent.at(-1)).toEqual({ type: 'ping' });
    line().say({ type: 'pong' });
    await vi.advanceTimersByTimeAsync(20_000);
    expect(states.at(-1)).toBe('live');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(states.at(-1)).toBe('away');
    expect(lines[0]?.closed).toBe(true);
  });

  test('is asked at once after a sleep', () => {
    welcome();
    comeBack();
    expect(line().sent.at(-1)).toEqual({ type: 'ping' });
  });

  test('from the beginning is given up too', async () => {
    await vi.advanceTimersByTimeAsync(10_000);
    expect(states.at(-1)).toBe('away');
  });
});

describe('the end', () => {
  test('of the login is told, and whoever finds it true stops the line', async () => {
    welcome();
    onLoggedOut = socket.stop;
    line().break(4001);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(loggedOut).toBe(1);
    expect(lines).toHaveLength(1);
  });

  test('of the login may be said of another: then it is tried again', async () => {
    welcome();
    line().break(4001);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(lines.length).toBeGreaterThan(1);
  });

  test('comes when nobody wants it any more', async () => {
    welcome();
    line().say(started(11));
    socket.stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(line().closed).toBe(true);
    expect(lines).toHaveLength(1);
    expect(delivered).toEqual([]);
    expect(states.at(-1)).toBe('off');
  });
});
