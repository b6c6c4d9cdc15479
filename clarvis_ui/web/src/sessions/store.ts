import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { Api } from '../api/client';
import type { EventBus } from '../api/eventBus';
import { type Position, readPosition } from '../api/events';
import type { Failure, Outcome } from '../api/result';
import type { Health, Session, SessionsPage } from '../api/sessions';
import type { KeeperSocket } from '../api/socket';
import { createPoller, type PageVisibility } from '../lib/poller';
import { newestFirst } from './groupByProject';
import { EMPTY_LISTING, isScanning, type Listing, type ListingEvent, reduceListing } from './list';

export interface SessionStore {
  readonly listing: ReadonlySignal<Listing>;
  readonly newestFirst: ReadonlySignal<readonly Session[]>;
  start(): void;
  stop(): void;
  refreshNow(): void;
  setLive(live: boolean): void;
  addFromPage(session: Session): void;
  update(session: Session): void;
  rename(id: string, name: string | null): Promise<Outcome<Session>>;
}

const POLL_MS = 4000;
// while events come, polling only finds what has no event
const POLL_MS_LIVE = 30_000;
const WHOLE_LIST_MS = 60_000;
const WHOLE_LIST_MS_SCANNING = 8000;

/** The last reading of the whole list. */
export interface WholeListRead {
  at: number;
  health: Health | null;
}

/**
 * Most of the time the newest page says all there is to know. The whole list is read again when
 * sessions came or went, while counts are being filled in, and now and then in any case.
 */
export function needsWholeList(
  last: WholeListRead | null,
  health: Health | null,
  now: number,
): boolean {
  if (last === null) return true;
  const scanning = isScanning(health?.scan ?? null);
  if (isScanning(last.health?.scan ?? null) && !scanning) return true;
  if (last.health?.sessions !== health?.sessions) return true;
  return now - last.at >= (scanning ? WHOLE_LIST_MS_SCANNING : WHOLE_LIST_MS);
}

export function createSessionStore(
  api: Api,
  events: EventBus,
  visibility: PageVisibility,
  socket: Pick<KeeperSocket, 'remember'> | null = null,
  takeHealth: () => Outcome<Health> | null = () => null,
): SessionStore {
  const listing = signal(EMPTY_LISTING);
  let lastWhole: WholeListRead | null = null;
  // a list that was requested before a rename has the old name
  let renames = 0;
  const renamedAt = new Map<string, number>();
  // and it may be older than events that came meanwhile
  const updatedAt = new Map<string, Position>();
  let live = false;

  function dispatch(event: ListingEvent): void {
    listing.value = reduceListing(listing.value, event);
  }

  function failed(failure: Failure): false {
    dispatch({ type: 'keeper/failed', failure });
    return false;
  }

  async function read(signal: AbortSignal): Promise<boolean> {
    const began = renames;
    const [health, first] = await Promise.all([
      takeHealth() ?? api.health(signal),
      api.sessions(null, signal),
    ]);
    if (signal.aborted) return false; // stopped in the meantime
    if (!first.ok) return failed(first.failure);
    if (!health.ok) return failed(health.failure);
    const position = readPosition(first.value.position);
    socket?.remember(position);
    const current = (session: Session): Session => {
      const newer =
        (renamedAt.get(session.id) ?? 0) > began || isOlder(position, updatedAt, session.id);
      return newer ? (listing.value.sessions.get(session.id) ?? session) : session;
    };

    dispatch({ type: 'scan/seen', scan: health.value.scan });
    dispatch({ type: 'newest/seen', sessions: first.value.sessions.map(current) });
    if (needsWholeList(lastWhole, health.value, Date.now())) {
      const whole = await wholeFrom(first.value, signal);
      if (signal.aborted) return false;
      if (!whole.ok) return failed(whole.failure);
      dispatch({ type: 'whole/seen', sessions: whole.value.map(current) });
      lastWhole = { at: Date.now(), health: health.value };
    }
    dispatch({ type: 'keeper/answered' });
    return true;
  }

  async function wholeFrom(first: SessionsPage, signal: AbortSignal): Promise<Outcome<Session[]>> {
    const sessions = [...first.sessions];
    const passed = new Set<string>();
    let cursor = first.cursor;
    // a cursor that comes twice would loop for ever
    while (cursor !== null && !passed.has(cursor)) {
      passed.add(cursor);
      const page = await api.sessions(cursor, signal);
      if (!page.ok) return page;
      sessions.push(...page.value.sessions);
      cursor = page.value.cursor;
    }
    return { ok: true, value: sessions };
  }

  events.on(['session/updated', 'session/removed'], (event) => {
    const before = updatedAt.get(event.sessionId);
    const again = before && before.epoch === event.position?.epoch;
    if (again && before.seq >= (event.position?.seq ?? 0)) return;
    if (event.position) updatedAt.set(event.sessionId, event.position);
    dispatch(event);
  });

  const poller = createPoller(read, visibility, () =>
    live && !isScanning(listing.value.scan) ? POLL_MS_LIVE : POLL_MS,
  );

  return {
    listing,
    newestFirst: computed(() => newestFirst(listing.value.sessions.values())),
    start: poller.start,
    stop() {
      poller.stop();
      listing.value = EMPTY_LISTING;
      lastWhole = null;
      updatedAt.clear();
    },
    refreshNow: poller.now,
    setLive(now) {
      const lost = live && !now;
      live = now;
      if (lost) poller.now();
    },
    addFromPage(session) {
      if (!listing.value.sessions.has(session.id)) dispatch({ type: 'session/updated', session });
    },
    update: (session) => dispatch({ type: 'session/updated', session }),
    async rename(id, name) {
      const outcome = await api.rename(id, name);
      if (outcome.ok) {
        renames += 1;
        renamedAt.set(id, renames);
        dispatch({ type: 'session/updated', session: outcome.value });
      }
      return outcome;
    },
  };
}

/** Whether the answer is older than the last event of this session. */
function isOlder(
  answered: Position | null,
  positions: ReadonlyMap<string, Position>,
  id: string,
): boolean {
  const last = positions.get(id);
  return last !== undefined && last.epoch === answered?.epoch && last.seq > answered.seq;
}
