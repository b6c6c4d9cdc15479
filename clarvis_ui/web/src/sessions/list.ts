import type { Failure } from '../api/result';
import type { Scan, Session } from '../api/sessions';

/** The session list. One reducer writes it; everything else is derived. */
export interface Listing {
  readonly sessions: ReadonlyMap<string, Session>;
  /** Whether every page was seen once; until then there may be more. */
  readonly complete: boolean;
  readonly scan: Scan | null;
  /** Why the last poll failed; null once one succeeds. */
  readonly failure: Failure | null;
}

export type ListingEvent =
  /** The newest sessions, and perhaps more of them elsewhere. */
  | { type: 'newest/seen'; sessions: readonly Session[] }
  /** Every session there is: whatever is not among them is gone. */
  | { type: 'whole/seen'; sessions: readonly Session[] }
  | { type: 'session/updated'; session: Session }
  | { type: 'session/removed'; sessionId: string }
  | { type: 'scan/seen'; scan: Scan | null }
  | { type: 'keeper/failed'; failure: Failure }
  | { type: 'keeper/answered' };

export const EMPTY_LISTING: Listing = {
  sessions: new Map(),
  complete: false,
  scan: null,
  failure: null,
};

export function reduceListing(listing: Listing, event: ListingEvent): Listing {
  switch (event.type) {
    case 'newest/seen':
      return { ...listing, sessions: merge(listing.sessions, event.sessions) };
    case 'whole/seen':
      return { ...listing, sessions: replaceAll(listing.sessions, event.sessions), complete: true };
    case 'session/updated':
      return { ...listing, sessions: merge(listing.sessions, [event.session]) };
    case 'session/removed': {
      if (!listing.sessions.has(event.sessionId)) return listing;
      const sessions = new Map(listing.sessions);
      sessions.delete(event.sessionId);
      return { ...listing, sessions };
    }
    case 'scan/seen':
      return { ...listing, scan: event.scan };
    case 'keeper/failed':
      return { ...listing, failure: event.failure };
    case 'keeper/answered':
      return listing.failure === null ? listing : { ...listing, failure: null };
    default:
      return event satisfies never;
  }
}

type Sessions = ReadonlyMap<string, Session>;

/** The very same map where nothing changed: then nothing is drawn again. */
function merge(sessions: Sessions, seen: readonly Session[]): Sessions {
  const changed = seen.filter((session) => !isSame(sessions.get(session.id), session));
  if (changed.length === 0) return sessions;
  return new Map([...sessions, ...changed.map((session) => [session.id, session] as const)]);
}

function replaceAll(sessions: Sessions, seen: readonly Session[]): Sessions {
  const whole = new Map<string, Session>();
  for (const session of seen) {
    const before = sessions.get(session.id);
    whole.set(session.id, before && isSame(before, session) ? before : session);
  }
  const same =
    whole.size === sessions.size &&
    [...whole].every(([id, session]) => sessions.get(id) === session);
  return same ? sessions : whole;
}

function isSame(before: Session | undefined, seen: Session): boolean {
  // both were made by the same reader, so their fields are in the same order
  return before !== undefined && JSON.stringify(before) === JSON.stringify(seen);
}

export function isScanning(scan: Scan | null): boolean {
  return scan !== null && scan.done < scan.total;
}
