/**
 * The one socket over which everything live comes. It connects again by itself, goes on from the
 * last position it heard, and says when something was missed.
 */

import { type KeeperEvent, type Position, readFrame } from './events';

export type SocketState =
  | 'off'
  | 'connecting'
  /** Events come as they happen. */
  | 'live'
  /** Lost; it reconnects soon. */
  | 'away';

export interface SocketListener {
  onState(state: SocketState): void;
  onEvents(events: readonly KeeperEvent[]): void;
  /** Events of one session, or of all, were missed: read again over REST. */
  onResync(sessionId: string | null): void;
  onLoggedOut(): void;
}

export interface KeeperSocket {
  start(): void;
  stop(): void;
  /** Reconnects, or checks the connection, at once. */
  retryNow(): void;
  /** The position of a page that was read over REST. */
  remember(position: Position | null): void;
  /** Whether every event after this position was or will be delivered. */
  covers(position: Position | null): boolean;
}

export interface SocketOptions {
  open(): WebSocket;
  /** Calls when the page is looked at again, or the machine is back on a network. */
  onReturn(listener: () => void): () => void;
  retryDelay(failures: number): number;
}

const LOGGED_OUT = 4001;
const PING_MS = 20_000;
const ANSWER_TIMEOUT_MS = 10_000;
// events come in bursts: those of one moment are drawn once
const BATCH_MS = 24;

export function createSocket(world: SocketOptions, listener: SocketListener): KeeperSocket {
  let socket: WebSocket | null = null;
  let removeReturnListener: (() => void) | null = null;
  let state: SocketState = 'off';
  let failures = 0;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let ping: ReturnType<typeof setTimeout> | undefined;
  let deadline: ReturnType<typeof setTimeout> | undefined;
  let flushing: ReturnType<typeof setTimeout> | undefined;
  let buffered: KeeperEvent[] = [];
  /** The position from which on no event is missing, and the latest position. */
  let coveredFrom: Position | null = null;
  let last: Position | null = null;
  let subscribed = false;

  function setState(next: SocketState): void {
    if (state === next) return;
    state = next;
    listener.onState(next);
  }

  function connect(): void {
    clearTimeout(retry);
    setState('connecting');
    const opened = world.open();
    socket = opened;
    // a connection may neither open nor fail
    expectAnswer();
    opened.onmessage = ({ data }) => {
      if (socket === opened) onFrame(data);
    };
    opened.onclose = ({ code }) => {
      if (socket === opened) onLost(code);
    };
  }

  function expectAnswer(): void {
    clearTimeout(deadline);
    deadline = setTimeout(() => abandon(), ANSWER_TIMEOUT_MS);
  }

  function abandon(): void {
    const dead = socket;
    onLost(0);
    dead?.close();
  }

  function onLost(code: number): void {
    socket = null;
    for (const timer of [ping, deadline]) clearTimeout(timer);
    flush();
    if (state === 'off') return;
    failures += 1;
    setState('away');
    // the keeper may have refused Clarvis's own token; the listener finds out, and may stop the socket
    if (code === LOGGED_OUT) listener.onLoggedOut();
    if (state !== 'away') return;
    retry = setTimeout(connect, world.retryDelay(failures));
  }

  function send(frame: object): void {
    socket?.send(JSON.stringify(frame));
  }

  function sendPing(): void {
    clearTimeout(ping);
    send({ type: 'ping' });
    expectAnswer();
  }

  function onFrame(data: unknown): void {
    clearTimeout(deadline);
    clearTimeout(ping);
    ping = setTimeout(sendPing, PING_MS);
    const frame = readFrame(data);
    switch (frame?.type) {
      case 'hello':
        if (last === null) coveredFrom = last = frame.position;
        send({
          type: 'subscribe',
          sessions: ['*'],
          ...(last && { since: `${last.epoch}:${last.seq}` }),
        });
        break;
      case 'subscribed':
        subscribed = true;
        failures = 0;
        setState('live');
        break;
      case 'resync':
        flush();
        if (frame.sessionId === null) {
          subscribed = true;
          failures = 0;
          // pages that are requested from now on are newer than what was missed
          coveredFrom = last = null;
          setState('live');
        }
        listener.onResync(frame.sessionId);
        break;
      case 'event':
        last = frame.event.position ?? last;
        buffered.push(frame.event);
        flushing ??= setTimeout(flush, BATCH_MS);
        break;
      case 'pong':
      case undefined:
        break;
      default:
        frame satisfies never;
    }
  }

  function flush(): void {
    clearTimeout(flushing);
    flushing = undefined;
    if (buffered.length === 0) return;
    const events = buffered;
    buffered = [];
    listener.onEvents(events);
  }

  function now(): void {
    if (state === 'away') connect();
    // after a sleep the connection may be dead without a close event
    else if (state === 'live') sendPing();
  }

  return {
    start() {
      if (state !== 'off') return;
      failures = 0;
      removeReturnListener = world.onReturn(now);
      connect();
    },
    stop() {
      removeReturnListener?.();
      const open = socket;
      setState('off');
      socket = null;
      for (const timer of [retry, ping, deadline, flushing]) clearTimeout(timer);
      flushing = undefined;
      buffered = [];
      coveredFrom = last = null;
      subscribed = false;
      open?.close();
    },
    retryNow: now,
    remember(position) {
      if (position === null) return;
      // after a resync the connection may break before any event comes
      if (subscribed) last ??= position;
      // before the first subscription, it begins at the earliest page
      else if (last === null || last.epoch !== position.epoch || position.seq < last.seq) {
        coveredFrom = last = position;
      }
    },
    covers(position) {
      if (coveredFrom === null || position === null || position.epoch !== coveredFrom.epoch)
        return true;
      return position.seq >= coveredFrom.seq;
    },
  };
}
