/** Which conversation a command belongs to. */

import { count, type Decoded, each, fields, fieldsOf, flag, oneOf, type Raw, text } from './decode';
import type * as Wire from './schema';

export const ACTIONS = ['resume', 'new'] as const;

/** How well a command fits one conversation. */
export type Fit = Optional<Decoded<typeof readFit>, 'leavesPlanFor'>;
/** The page makes such an answer itself where the keeper gives none. */
export type Routing = Optional<Decoded<typeof routingOf>, 'confidence' | 'scorer' | 'id'>;
/** Why a message is where it is. */
export type Routed = Decoded<typeof readRouted>;

type Optional<T, Names extends keyof T> = Omit<T, Names> & Partial<Pick<T, Names>>;

function readFit(raw: Raw<Wire.CandidateScore>) {
  const fit = fields(raw);
  const sessionId = text(fit?.sessionId);
  if (!fit || !sessionId) return null;
  return {
    sessionId,
    title: text(fit.title),
    workdir: text(fit.workdir),
    score: count(fit.score),
    secondsAgo: count(fit.secondsAgo),
    /** What speaks for it, in words. */
    because: text(fit.because),
    /** What is planned there is to be done now: the mode in which it goes on. */
    leavesPlanFor: text(fit.leavesPlanFor),
  };
}

function routingOf(raw: unknown) {
  const routing = fieldsOf<Wire.RoutingDecision>(raw);
  if (!routing) return null;
  const sessionId = text(routing.sessionId);
  return {
    // without a session there is nothing to resume
    action:
      sessionId === null ? ('new' as const) : (oneOf(ACTIONS, routing.action) ?? ('new' as const)),
    sessionId,
    title: text(routing.title),
    reason: text(routing.reason),
    /** The best first. */
    candidates: each(routing.candidates, readFit) as Fit[],
    /** How sure it is, from 0 to 1, and by which rule. */
    confidence: count(routing.confidence),
    scorer: text(routing.scorer),
    /** The message is sent with it, so that the keeper stores both together. */
    id: text(routing.id),
  };
}

export function readRouting(raw: unknown): Routing | null {
  return routingOf(raw);
}

function readRouted(raw: Raw<Wire.RoutedMessage>) {
  const routed = fields(raw);
  const uuid = text(routed?.uuid);
  const routing = readRouting(routed?.routing);
  if (!routed || !uuid || !routing) return null;
  return {
    uuid,
    routing,
    /** False: the person chose another way. */
    followed: flag(routed.followed, true),
    /** Its words ended the planning: the mode in which the session went on. */
    leftPlanFor: text(routed.leftPlanFor),
  };
}

export function readRoutings(raw: unknown): Routed[] {
  return each(fieldsOf<Wire.RoutingList>(raw)?.routings, readRouted);
}
