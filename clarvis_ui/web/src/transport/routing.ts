/** Which conversation a command belongs to, as the wire contract has it. */

import { each, fields, number, oneOf, text } from './reading';

/** How well a command fits one conversation. */
export interface Fit {
  sessionId: string;
  title: string | null;
  workdir: string | null;
  score: number;
  secondsAgo: number;
  /** What speaks for it, in words. */
  because: string | null;
}

export const ACTIONS = ['resume', 'new'] as const;

export interface Routing {
  action: (typeof ACTIONS)[number];
  sessionId: string | null;
  title: string | null;
  reason: string | null;
  /** The best first. */
  candidates: Fit[];
}

function readFit(raw: unknown): Fit | null {
  const given = fields(raw);
  const sessionId = given && text(given.sessionId);
  if (!given || !sessionId) return null;
  return {
    sessionId,
    title: text(given.title),
    workdir: text(given.workdir),
    score: number(given.score) ?? 0,
    secondsAgo: number(given.secondsAgo) ?? 0,
    because: text(given.because),
  };
}

export function readRouting(raw: unknown): Routing | null {
  const given = fields(raw);
  if (!given) return null;
  const sessionId = text(given.sessionId);
  return {
    // without a session there is nothing to resume
    action: sessionId === null ? 'new' : (oneOf(ACTIONS, given.action) ?? 'new'),
    sessionId,
    title: text(given.title),
    reason: text(given.reason),
    candidates: each(given.candidates, readFit),
  };
}
