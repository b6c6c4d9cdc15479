import { type Outcome, success } from '../api/result';
import { contentOf } from '../composer/images';
import {
  type ConversationStore,
  type ConversationStoreOptions,
  createConversationStore,
  HANDLED_EVENTS,
} from './conversationStore';
import type { OptimisticMessage } from './optimistic';
import { sendOrWait } from './send';

/** The stores of the conversations that were opened last. */
export interface OpenConversations {
  /** The store of this session; the same one until it is dropped. */
  open(id: string): ConversationStore;
  /** Sends a message of the command bar; returns the session that has it. */
  deliver(delivery: Delivery): Promise<Outcome<string>>;
  sent(id: string): Promise<void>;
  /** Events of this session, or of all, were missed. */
  resync(sessionId: string | null): void;
  retryFailed(): void;
  forget(): void;
}

/** `copy`: somebody else runs the session, so a fork gets the message. */
export type SendTarget = { sessionId: string; copy?: boolean } | { workdir: string };

export interface Delivery {
  uuid: string;
  text: string;
  to: SendTarget;
  /** The id of the routing decision. */
  routing?: string;
}

const MAX_OPEN = 12;

export function createOpenConversations(needs: ConversationStoreOptions): OpenConversations {
  /** In the order of use, the latest last. */
  const stores = new Map<string, ConversationStore>();

  needs.events.on(HANDLED_EVENTS, (event) => stores.get(event.sessionId)?.handle(event));

  function drop(id: string): void {
    stores.get(id)?.stop();
    stores.delete(id);
  }

  return {
    async deliver({ uuid, text, to, routing }) {
      const content = contentOf(text, []);
      const { copy, ...where } = { copy: false, ...to };
      const more = { ...(copy && { fork: true }), ...(routing && { routing }) };
      const prompt = { ...where, content, uuid, ...more };
      const outcome = await sendOrWait(needs.api, prompt);
      if (!outcome.ok) return outcome;
      const { sessionId } = outcome.value;
      // the session's page shows it at once
      const conversationStore = stores.get(sessionId);
      const pending: OptimisticMessage = {
        uuid,
        text,
        content,
        images: 0,
        state: 'accepted',
        problem: null,
        behind: conversationStore?.conversation.value.messages.at(-1)?.timestamp ?? null,
        begun: Date.now(),
      };
      if (conversationStore) conversationStore.addAccepted(pending);
      else needs.outbox.store(sessionId, [pending], []);
      return success(sessionId);
    },
    open(id) {
      const conversationStore = stores.get(id) ?? createConversationStore(id, needs);
      stores.delete(id);
      stores.set(id, conversationStore);
      for (const old of [...stores.keys()].slice(0, -MAX_OPEN)) drop(old);
      return conversationStore;
    },
    sent: async (id) => stores.get(id)?.settled(),
    resync(sessionId) {
      if (sessionId !== null) {
        stores.get(sessionId)?.reload();
        return;
      }
      // only the visible one is loaded again now
      const last = [...stores.keys()].at(-1);
      for (const id of [...stores.keys()]) {
        if (id !== last) drop(id);
      }
      if (last !== undefined) stores.get(last)?.reload();
    },
    retryFailed() {
      for (const conversationStore of stores.values())
        if (conversationStore.failure.value) conversationStore.reload();
    },
    forget() {
      for (const id of [...stores.keys()]) drop(id);
    },
  };
}
