import { batch, type ReadonlySignal, signal } from '@preact/signals';
import type { Api } from '../api/client';
import type { EventBus, EventOf } from '../api/eventBus';
import { readPosition } from '../api/events';
import type { FailedTurn } from '../api/failedTurns';
import type { Partial } from '../api/messages';
import { createLatestRequest } from '../api/request';
import { CANCELLED, type Failure, SESSION_ELSEWHERE } from '../api/result';
import type { Session } from '../api/sessions';
import type { KeeperSocket } from '../api/socket';
import { type AttachedImage, contentOf } from '../composer/images';
import { newUuid } from '../lib/uuid';
import {
  CONVERSATION_EVENTS,
  type Conversation,
  type ConversationEvent,
  type ConversationState,
  emptyConversation,
  readableConversation,
  reduce,
} from './conversation';
import { type OptimisticMessage, textOf } from './optimistic';
import type { Outbox } from './outbox';
import { sendOrWait } from './send';

export const HANDLED_EVENTS = [
  ...CONVERSATION_EVENTS,
  'session/updated',
  'session/removed',
] as const;
type HandledEvent = EventOf<(typeof HANDLED_EVENTS)[number]>;

/** One open conversation: loads it, keeps it current and sends its messages. */
export interface ConversationStore {
  readonly conversation: ReadonlySignal<Conversation>;
  /** The block that is being written: it has its own signal, because every delta changes it. */
  readonly partial: ReadonlySignal<Partial | null>;
  readonly failure: ReadonlySignal<Failure | null>;
  readonly loading: ReadonlySignal<boolean>;
  handle(event: HandledEvent): void;
  /** Loads again as much as is loaded. */
  reload(): void;
  /** Loads so many pages above the loaded messages. */
  loadOlder(pages?: number): void;
  /** `interrupt`: stops the running turn, and sends this next. */
  send(text: string, images: readonly AttachedImage[], interrupt?: boolean): void;
  /** Shows a message that the command bar has sent, and that the keeper has accepted. */
  addAccepted(pending: OptimisticMessage): void;
  retry(uuid: string): void;
  /** The text of a message that was not sent. */
  textOf(uuid: string): string;
  /** What could not be sent because somebody else runs the session: in a copy, whose id is the
   * answer, or as soon as the other has ended. */
  sendElsewhere(uuid: string, how: 'fork' | 'wait'): Promise<string | null>;
  /** Takes back a message that was not sent; null where there is none. */
  withdraw(uuid: string): OptimisticMessage | null;
  /** Until the keeper has all that was sent, so that what stops a turn stops after it; what takes
   * too long is not sent. */
  settled(): Promise<void>;
  /** Forgets a message that was taken out of the queue. */
  removeQueued(uuid: string): void;
  stop(): void;
}

export interface ConversationStoreOptions {
  api: Api;
  events: EventBus;
  socket: Pick<KeeperSocket, 'remember' | 'covers'>;
  outbox: Outbox;
  retryDelay(failures: number): number;
  /** The session that came with a page: the list may not have it yet. */
  onSession(session: Session): void;
}

const PAGE = 150;
const MAX_PAGE = 10_000;
/** For so long, stopping a turn waits for messages that are being sent. */
const ARRIVAL_MS = 2000;
// loading again would not change these
const FINAL_CODES = new Set(['session_not_found', 'not_found', 'invalid_request']);

export function createConversationStore(
  id: string,
  needs: ConversationStoreOptions,
): ConversationStore {
  const { api, socket, outbox } = needs;
  const restored = outbox.restore(id);
  let state: ConversationState = {
    ...emptyConversation(id),
    optimistic: restored,
    own: restored.map((pending) => pending.uuid),
  };
  const conversation = signal<Conversation>(state);
  const partial = signal<Partial | null>(null);
  const trouble = signal<Failure | null>(null);
  const loading = signal(false);
  /** Sent before the page was reloaded; only the keeper knows whether they arrived. */
  let unconfirmedByKeeper = restored
    .filter((pending) => pending.state === 'sending')
    .map(({ uuid }) => uuid);
  const latestPage = createLatestRequest();
  const olderPage = createLatestRequest();
  let retryTimer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  const inFlight = new Map<string, { answer: Promise<unknown>; request: AbortController }>();

  function dispatch(event: ConversationEvent): void {
    const before = state;
    const after = reduce(before, event);
    if (after === before) return;
    if (after.optimistic !== before.optimistic)
      outbox.store(id, after.optimistic, before.optimistic);
    state = after;
    batch(() => {
      partial.value = after.partial;
      conversation.value = readableConversation(conversation.value, after);
    });
    // a gap has opened: only a page closes it
    if (after.heldEvents !== null && before.heldEvents === null) void load();
  }

  async function load(): Promise<void> {
    clearTimeout(retryTimer);
    loading.value = true;
    const { messages, optimistic } = state;
    const accepted = [
      ...unconfirmedByKeeper,
      ...optimistic.filter((pending) => pending.state === 'accepted').map(({ uuid }) => uuid),
    ];
    const limit = Math.min(MAX_PAGE, Math.max(PAGE, messages.length));
    const outcome = await latestPage.send((signal) => api.conversation(id, null, limit, signal));
    if (outcome === null) return;
    loading.value = false;
    if (!outcome.ok) {
      failed(outcome.failure);
      return;
    }
    const position = readPosition(outcome.value.position);
    const covered = socket.covers(position);
    if (covered) socket.remember(position);
    batch(() => {
      trouble.value = null;
      needs.onSession(outcome.value.session);
      if (covered) dispatch({ type: 'page/loaded', page: outcome.value, accepted });
    });
    unconfirmedByKeeper = [];
    // the page is older than the subscription, or than an event that is applied already
    if (state.heldEvents !== null) tryAgain();
    else failures = 0;
  }

  function failed(failure: Failure): void {
    trouble.value = failure;
    if (!FINAL_CODES.has(failure.code)) tryAgain();
  }

  function tryAgain(): void {
    failures += 1;
    clearTimeout(retryTimer);
    retryTimer = setTimeout(() => void load(), needs.retryDelay(failures));
  }

  function reload(): void {
    failures = 0;
    dispatch({ type: 'stream/broken' });
    // an earlier gap may have no request under way
    if (!latestPage.isRunning) void load();
  }

  async function post(pending: OptimisticMessage): Promise<void> {
    const { uuid, content, interrupt } = pending;
    const prompt = { sessionId: id, content, uuid };
    const request = new AbortController();
    const answer = sendOrWait(api, interrupt ? { ...prompt, interrupt } : prompt, request.signal);
    inFlight.set(uuid, { answer, request });
    const outcome = await answer;
    inFlight.delete(uuid);
    if (outcome.ok) dispatch({ type: 'sending/accepted', uuid });
    else markUnsent(uuid, outcome.failure);
  }

  function markUnsent(uuid: string, failure: Failure): void {
    if (failure.code === SESSION_ELSEWHERE) dispatch({ type: 'sending/elsewhere', uuid });
    else {
      const stopped = failure.code === CANCELLED;
      const problem = stopped ? 'It was stopped before it had arrived.' : failure.sentence;
      dispatch({ type: 'sending/failed', uuid, problem });
    }
  }

  /** A message that was not sent, or whose turn failed before a transcript had it. */
  function unsent(uuid: string): OptimisticMessage | undefined {
    const { optimistic, failed } = state;
    const own = optimistic.find((pending) => pending.uuid === uuid);
    if (own) return own.state === 'failed' || own.state === 'elsewhere' ? own : undefined;
    const failedTurn = failed.findLast((turn) => turn.prompt?.uuid === uuid);
    return failedTurn?.prompt ? fromTurn(failedTurn.prompt) : undefined;
  }

  void load();

  return {
    conversation,
    partial,
    failure: trouble,
    loading,
    handle(event) {
      if (event.type === 'session/removed') reload();
      else if (event.type !== 'session/updated') dispatch(event);
      // the session exists again
      else if (trouble.value?.code === 'session_not_found') reload();
    },
    reload,
    async loadOlder(pages = 1) {
      const cursor = state.before;
      if (cursor === null || olderPage.isRunning || latestPage.isRunning) return;
      loading.value = true;
      const limit = Math.min(MAX_PAGE, PAGE * pages);
      const outcome = await olderPage.send((signal) => api.conversation(id, cursor, limit, signal));
      if (outcome === null) return;
      loading.value = latestPage.isRunning;
      if (outcome.ok) dispatch({ type: 'page/above', above: cursor, page: outcome.value });
      else failed(outcome.failure);
    },
    send(text, images, interrupt = false) {
      const pending: OptimisticMessage = {
        uuid: newUuid(),
        text,
        content: contentOf(text, images),
        images: images.length,
        ...(interrupt && { interrupt }),
        state: 'sending',
        problem: null,
        behind: state.messages.at(-1)?.timestamp ?? null,
        begun: Date.now(),
      };
      dispatch({ type: 'sending/begun', pending });
      void post(pending);
    },
    retry(uuid) {
      const message = unsent(uuid);
      if (!message) return;
      const pending: OptimisticMessage = { ...message, state: 'sending', problem: null };
      dispatch({ type: 'sending/begun', pending });
      void post(pending);
    },
    textOf: (uuid) => unsent(uuid)?.text ?? '',
    addAccepted: (pending) => dispatch({ type: 'sending/begun', pending }),
    async sendElsewhere(uuid, how) {
      const message = unsent(uuid);
      if (!message) return null;
      const prompt = { sessionId: id, content: message.content, uuid };
      const outcome = await api.send(how === 'fork' ? { ...prompt, fork: true } : prompt);
      if (!outcome.ok) markUnsent(uuid, outcome.failure);
      else if (outcome.value.sessionId === id) dispatch({ type: 'sending/accepted', uuid });
      else {
        const copy = outcome.value.sessionId;
        outbox.store(copy, [{ ...message, state: 'accepted', problem: null }], []);
        dispatch({ type: 'sending/withdrawn', uuid });
        return copy;
      }
      return null;
    },
    withdraw(uuid) {
      const message = unsent(uuid);
      if (!message) return null;
      // it may have arrived all the same, or be in the queue
      if (message.state === 'failed') void api.cancelQueued(id, uuid);
      dispatch({ type: 'sending/withdrawn', uuid });
      return message;
    },
    async settled() {
      const destinations = [...inFlight.values()];
      if (destinations.length === 0) return;
      let late: ReturnType<typeof setTimeout> | undefined;
      const patience = new Promise((resolve) => {
        late = setTimeout(resolve, ARRIVAL_MS);
      });
      await Promise.race([Promise.all(destinations.map(({ answer }) => answer)), patience]);
      clearTimeout(late);
      for (const { request } of destinations) request.abort();
    },
    removeQueued: (uuid) => dispatch({ type: 'sending/withdrawn', uuid }),
    stop() {
      clearTimeout(retryTimer);
      latestPage.stop();
      olderPage.stop();
    },
  };
}

function fromTurn({ uuid, content }: NonNullable<FailedTurn['prompt']>): OptimisticMessage {
  return {
    uuid,
    text: textOf(content),
    content,
    images: content.filter((block) => block.type !== 'text').length,
    state: 'failed',
    problem: null,
    behind: null,
    begun: 0,
  };
}
