/** What becomes of our own messages, and of prompts whose turns failed. Pure. */

import type { TurnError } from '../api/failedTurns';
import type { ConversationState } from './conversation';
import { withFailedTurn, withoutPrompt } from './failedTurns';
import { type OptimisticMessage, unconfirmed, withoutOptimistic } from './optimistic';

/** The code of a failure that says no more than that the turn failed. */
export const UNKNOWN = 'unknown';

export function dropConfirmed(state: ConversationState): ConversationState {
  if (state.optimistic.length === 0) return state;
  const optimistic = unconfirmed(state.optimistic, state.messages, state.own);
  return optimistic.length === state.optimistic.length ? state : { ...state, optimistic };
}

/** A turn failed: what was said and streamed in it stays, with the reason. */
export function failTurn(
  state: ConversationState,
  uuid: string | null,
  error: TurnError,
): ConversationState {
  const { partial, taken, messages, turn } = state;
  const failedBefore =
    turn === null ? state.failed.findLast((one) => one.uuid === uuid) : undefined;
  if (failedBefore === undefined) {
    const failed = withFailedTurn(state.failed, uuid, error, partial, taken, messages);
    return markFailed({ ...state, turn: null, partial: null, failed });
  }
  // told by the end of the turn already, which does not say all of it
  if (failedBefore.error.code !== UNKNOWN) return state;
  return {
    ...state,
    failed: state.failed.with(state.failed.indexOf(failedBefore), { ...failedBefore, error }),
  };
}

/** Ours whose turns failed: they are not on their way any more, and they are not lost. */
export function markFailed(state: ConversationState): ConversationState {
  const again = [state.turn, ...state.queue].map((one) => one?.uuid);
  return state.failed.reduce((next, { uuid, prompt, ended, error }) => {
    if (uuid === null || again.includes(uuid)) return next;
    if (!next.optimistic.some((pending) => pending.uuid === uuid)) return next;
    // Claude Code wrote it down under a uuid of its own
    if (ended !== null && prompt === null) return dropOptimistic(next, uuid);
    return changeOptimistic(next, uuid, { state: 'failed', problem: error.message });
  }, state);
}

/** What is said again, or waits for it, did not fail for good. */
export function revive(
  state: ConversationState,
  uuids: readonly (string | null)[],
): Pick<ConversationState, 'failed' | 'optimistic'> {
  const optimistic = state.optimistic.map((pending) =>
    pending.state === 'failed' && uuids.includes(pending.uuid)
      ? { ...pending, state: 'accepted' as const, problem: null }
      : pending,
  );
  const changed = optimistic.some((pending, at) => pending !== state.optimistic[at]);
  return {
    failed: withoutPrompt(state.failed, uuids),
    optimistic: changed ? optimistic : state.optimistic,
  };
}

/** The turn of one of ours is over: it is part of the conversation, or it says what became of it. */
export function finishTurn(
  state: ConversationState,
  uuid: string,
  { outcome, error }: NonNullable<ConversationState['ended']>,
): ConversationState {
  const own = state.optimistic.find((pending) => pending.uuid === uuid);
  // a command leaves no message of its own
  const command = outcome === 'interrupted' && own?.text.startsWith('/');
  if (outcome === 'done' || command) return dropOptimistic(state, uuid);
  if (own === undefined || own.state === 'failed') return state;
  const stopped = 'This was stopped before Claude had it.';
  return changeOptimistic(state, uuid, { state: 'failed', problem: error ?? stopped });
}

export function changeOptimistic(
  state: ConversationState,
  uuid: string,
  changes: Pick<OptimisticMessage, 'state' | 'problem'>,
): ConversationState {
  if (!state.optimistic.some((pending) => pending.uuid === uuid)) return state;
  const optimistic = state.optimistic.map((pending) =>
    pending.uuid === uuid ? { ...pending, ...changes } : pending,
  );
  return { ...state, optimistic };
}

export function dropOptimistic(state: ConversationState, uuid: string): ConversationState {
  const optimistic = withoutOptimistic(state.optimistic, uuid);
  return optimistic === state.optimistic ? state : { ...state, optimistic };
}
