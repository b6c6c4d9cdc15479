/** Which conversation a command belongs to, as the wire contract has it. */

import { each, fields, number, oneOf, text } from './decode';

/** How well a command fits one conversation. */
export interface Fit {
  sessionId: string;
  title: string | null;
  workdir: string | null;
  score: number;
  secondsAgo: number;
  /** What speaks for it, in words. */
  because: string | null;
  /** What is planned there is to be done now: the mode in which it goes on. */
  leavesPlanFor?: string | null;
}

export const ACTIONS = ['resume', 'new'] as const;

export interface Routing {
  action: (typeof ACTIONS)[number];
  sessionId: string | null;
  title: string | null;
  reason: string | null;
  /** The best first. */
  candidates: Fit[];
  /** How sure it is, from 0 to 1, and by which rule. */
  confidence?: number;
  scorer?: string | null;
  /** What a message is sent with, so that this is kept with it. */
  id?: string | null;
}

/** Why a message is where it is. */
export interface Routed {
  uuid: string;
  routing: Routing;
  /** False: the person chose another way. */
  followed: boolean;
  /** Its words ended the planning: the mode in which the session went on. */
  leftPlanFor: string | null;
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
    leavesPlanFor: text(given.leavesPlanFor),
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
    confidence: number(given.confidence) ?? 0,
    scorer: text(given.scorer),
    id: text(given.id),
  };
}

function readRouted(raw: unknown): Routed | null {
  const given = fields(raw);
  const uuid = given && text(given.uuid);
  const routing = readRouting(given?.routing);
  if (!given || !uuid || !routing) return null;
  const followed = given.followed !== false;
  return { uuid, routing, followed, leftPlanFor: text(given.leftPlanFor) };
}

export function readRoutings(raw: unknown): Routed[] {
  return each(fields(raw)?.routings, readRouted);
}
