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

/** The conversations that are held in memory: the open one, and those one may come back to. */
export interface OpenConversations {
  /** The talk of this session; it stays the same for as long as it is kept. */
  open(id: string): ConversationStore;
  /** Sends what was not typed in a session's own page; answers which session has it. */
  deliver(delivery: Delivery): Promise<Outcome<string>>;
  /** Until the keeper has what was sent to this session. */
  sent(id: string): Promise<void>;
  /** What was told of this session, or of all, does not hold any more. */
  resync(sessionId: string | null): void;
  /** The line is there again: what could not be loaded is tried at once. */
  retryFailed(): void;
  forget(): void;
}

/** `copy`: somebody else runs the session, and it goes on in a copy. */
export type SendTarget = { sessionId: string; copy?: boolean } | { workdir: string };

export interface Delivery {
  uuid: string;
  text: string;
  to: SendTarget;
  /** The answer by which it goes there. */
  routing?: string;
}

const KEPT = 12;

export function createOpenConversations(needs: ConversationStoreOptions): OpenConversations {
  /** The one used last is the last. */
  const talks = new Map<string, ConversationStore>();

  needs.events.on(HANDLED_EVENTS, (event) => talks.get(event.sessionId)?.handle(event));

  function drop(id: string): void {
    talks.get(id)?.end();
    talks.delete(id);
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
      // the session's page shows it from the first moment on
      const talk = talks.get(sessionId);
      const sending: OptimisticMessage = {
        uuid,
        text,
        content,
        images: 0,
        state: 'accepted',
        problem: null,
        behind: talk?.conversation.value.messages.at(-1)?.timestamp ?? null,
        begun: Date.now(),
      };
      if (talk) talk.adopt(sending);
      else needs.outbox.store(sessionId, [sending], []);
      return success(sessionId);
    },
    open(id) {
      const talk = talks.get(id) ?? createConversationStore(id, needs);
      talks.delete(id);
      talks.set(id, talk);
      for (const old of [...talks.keys()].slice(0, -KEPT)) drop(old);
      return talk;
    },
    sent: async (id) => talks.get(id)?.settled(),
    resync(sessionId) {
      if (sessionId !== null) {
        talks.get(sessionId)?.reload();
        return;
      }
      // only what one looks at is worth asking for now
      const last = [...talks.keys()].at(-1);
      for (const id of [...talks.keys()]) {
        if (id !== last) drop(id);
      }
      if (last !== undefined) talks.get(last)?.reload();
    },
    retryFailed() {
      for (const talk of talks.values()) if (talk.failure.value) talk.reload();
    },
    forget() {
      for (const id of [...talks.keys()]) drop(id);
    },
  };
}
