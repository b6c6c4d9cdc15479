import { useMemo, useRef, useState } from 'preact/hooks';
import type { Queued } from '../api/messages';
import { KEEPER_BUSY, MESSAGE_NOT_FOUND, MESSAGE_TAKEN } from '../api/result';
import type { AppStore } from '../app/store';
import { type QueuedMessage, queuedMessages } from '../conversation/conversation';
import type { ConversationStore } from '../conversation/conversationStore';
import { type DraftField, moveIntoDraft } from '../conversation/queueEdits';

/** The queued and held messages of a session, and the actions on them. */
export function useQueue(
  app: AppStore,
  conversationStore: ConversationStore,
  id: string,
  field: DraftField,
) {
  const conversation = conversationStore.conversation.value;
  const { queue, optimistic } = conversation;
  const all = useMemo(() => queuedMessages(conversation), [conversation]);
  const [problem, setProblem] = useState('');
  const latest = useRef(optimistic);
  latest.current = optimistic;

  return {
    queue: all.filter(({ state }) => state !== 'held'),
    held: useMemo(() => queue.filter(({ state }) => state === 'held'), [queue]),
    problem,
    setProblem,
    async edit(waiting: readonly (Queued | QueuedMessage)[]): Promise<void> {
      const session = {
        id,
        api: app.api,
        optimistic: latest.current,
        withdrawn: conversationStore.removeQueued,
      };
      setProblem(await moveIntoDraft(waiting, session, field));
    },
    async send(held: readonly Queued[]): Promise<void> {
      const uuids = held.map(({ uuid }) => uuid);
      let outcome = await app.api.sendHeld(id, uuids, false);
      // the keeper is at its limit of sessions: the request waits, as sending does
      if (!outcome.ok && outcome.failure.code === KEEPER_BUSY) {
        outcome = await app.api.sendHeld(id, uuids, true);
      }
      setProblem(outcome.ok ? '' : outcome.failure.sentence);
    },
    async discard(held: readonly Queued[]): Promise<void> {
      setProblem('');
      for (const { uuid } of held) {
        const outcome = await app.api.cancelQueued(id, uuid);
        const code = outcome.ok ? null : outcome.failure.code;
        if (!outcome.ok && code !== MESSAGE_NOT_FOUND) setProblem(outcome.failure.sentence);
        // removed by another tab, or not reached: only a confirmed removal hides it
        if (code === MESSAGE_TAKEN) continue;
        if (code !== null && code !== MESSAGE_NOT_FOUND) return;
        conversationStore.removeQueued(uuid);
      }
    },
  };
}
