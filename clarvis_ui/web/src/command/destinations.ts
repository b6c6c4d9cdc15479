import type { Fit, Routing } from '../api/routing';
import type { Session } from '../api/sessions';
import { matching } from '../sessions/groupByProject';
import { titleOf } from '../sessions/labels';

/** Where a command can go: into a session, or a new one. */
export type Destination =
  | {
      kind: 'resume';
      sessionId: string;
      title: string;
      because: string | null;
      /** Somebody else has it open: it goes on in a copy. */
      copy: boolean;
      /** The command starts the plan: the mode that the session gets. */
      leavesPlanFor?: string | null;
      routing?: string | null;
    }
  /** Without a directory one has to be chosen first. */
  | { kind: 'new'; workdir: string | null; because: string | null; routing?: string | null };

export function destinationKey(destination: Destination): string {
  return destination.kind === 'new' ? 'new' : `resume ${destination.sessionId}`;
}

const LATELY = 'it was spoken in lately';
// more suggestions would only distract
const OTHERS = 2;

/** All destinations, the decided one first; without a decision a new session. */
export function destinationsOf(
  routing: Routing | null,
  sessions: ReadonlyMap<string, Session>,
  workdir: string | null,
): Destination[] {
  const decided = routing?.action === 'resume' ? routing.sessionId : null;
  const fits = routing?.candidates ?? [];
  const best = fits.filter(({ sessionId }) => sessionId === decided);
  // what has nothing to say for itself but that it is recent is nobody's second choice; but where
  // something new would begin, one key leads to the conversation that was nearest
  const others = fits.filter(
    ({ sessionId, because }, at) =>
      sessionId !== decided && (because !== null || (decided === null && at === 0)),
  );
  const resumed = [...best, ...others.slice(0, OTHERS)].map((fit) =>
    resuming(fit, fit.sessionId === decided ? routing : null, sessions),
  );
  const begun: Destination = {
    kind: 'new',
    workdir,
    because: decided ? null : (routing?.reason ?? null),
  };
  const destinations = best.length === 0 ? [begun, ...resumed] : [...resumed, begun];
  // the decision is stored with the message, whatever is chosen
  return routing?.id
    ? destinations.map((destination) => ({ ...destination, routing: routing.id ?? null }))
    : destinations;
}

function resuming(
  fit: Fit,
  decided: Routing | null,
  sessions: ReadonlyMap<string, Session>,
): Destination {
  const session = sessions.get(fit.sessionId);
  return {
    kind: 'resume',
    sessionId: fit.sessionId,
    title: (session && titleOf(session)) ?? fit.title ?? 'Untitled session',
    because: withinASentence(decided?.reason ?? fit.because) ?? LATELY,
    copy: session?.origin === 'terminal',
    ...(fit.leavesPlanFor && { leavesPlanFor: fit.leavesPlanFor }),
  };
}

/** "It says “also”." → "it says “also”", to go on with after "because". */
function withinASentence(reason: string | null): string | null {
  if (reason === null) return null;
  return reason.charAt(0).toLowerCase() + reason.slice(1).replace(/\.$/, '');
}

const OFFERED = 5;
// longer text is not a title
const MAX_TITLE = 80;

/** Sessions that match the text; those that have it in their title first. */
export function opensFor(
  newestFirst: readonly Session[],
  words: string,
  currentId: string | null,
): Session[] {
  const others = newestFirst.filter((session) => session.id !== currentId);
  if (words.trim() === '') return others.slice(0, OFFERED);
  if (words.length > MAX_TITLE || words.includes('\n')) return [];
  const matches = matching(others, words);
  const inTitle = new Set(matches.filter((session) => isIn(titleOf(session), words)));
  return [...inTitle, ...matches.filter((session) => !inTitle.has(session))].slice(0, OFFERED);
}

function isIn(title: string, words: string): boolean {
  const text = title.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
