import { batch, computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { Api } from '../api/client';
import type { KeeperEvent } from '../api/events';
import { createSocket, type SocketState, type SocketWorld } from '../api/socket';
import { createKept, type Kept } from '../archive/store';
import { createHalves } from '../attention/answerDrafts';
import { createQuestions, type Questions } from '../attention/store';
import { createDrafts, type Drafts } from '../composer/drafts';
import type { Wish } from '../composer/spokenActions';
import { type Conversations, createConversations } from '../conversation/openConversations';
import { createOutbox } from '../conversation/outbox';
import { type AllFolds, createAllFolds } from '../lib/expanded';
import { type Attention, createHeartbeat, retryDelay } from '../lib/poller';
import type { Memory } from '../lib/storage';
import { createOffers, type OfferStore } from '../session/settings/capabilities';
import { createTold, type Told } from '../sessions/hookNotices';
import { createSessionStore, type SessionStore } from '../sessions/store';
import { createDoor, type Door } from './auth';

/** Everything that the page knows and can do: the stores, and the one line that feeds them all. */
export interface Clarvis {
  api: Api;
  door: Door;
  sessions: SessionStore;
  conversations: Conversations;
  questions: Questions;
  offers: OfferStore;
  drafts: Drafts;
  folds: AllFolds;
  memory: Memory;
  kept: Kept;
  /** What Claude Code said of itself in terminals. */
  told: Told;
  /** What was said in the command bar of a session, until its page has done it. */
  wish: Signal<Wish | null>;
  /** How the line to the keeper is. */
  line: ReadonlySignal<SocketState>;
  /** Tries now what would be tried later. */
  tryNow(): void;
  /** For whoever wants to know what happens, such as notifications. */
  onEvents(listener: (events: readonly KeeperEvent[]) => void): void;
}

// how soon a page that was shut notices that it is let in again
const LOOK_AT_DOOR_MS = 4000;

export interface ClarvisWorld {
  api: Api;
  memory: Memory;
  page: Attention;
  openSocket: SocketWorld['open'];
  /** How this browser is called before others. */
  name: string;
}

export function createClarvis({ api, memory, page, openSocket, name }: ClarvisWorld): Clarvis {
  const line = signal<SocketState>('off');
  const listeners: ((events: readonly KeeperEvent[]) => void)[] = [];
  const delay = (failures: number): number => retryDelay(failures, Math.random());
  const door = createDoor(api);

  const socket = createSocket(
    { open: openSocket, onReturn: page.onReturn, retryDelay: delay },
    {
      onState(state) {
        line.value = state;
        sessions.setLive(state === 'live');
        if (state === 'live') conversations.wake();
      },
      onEvents(events) {
        batch(() => {
          sessions.hear(events);
          conversations.hear(events);
          questions.hear(events);
          told.hear(events);
          for (const listener of listeners) listener(events);
        });
      },
      onResync(sessionId) {
        conversations.resync(sessionId);
        if (sessionId !== null) return;
        sessions.refreshNow();
        questions.reload();
      },
      onLoggedOut: () => void door.doubt(),
    },
  );
  const sessions = createSessionStore(api, page, door.shut, socket, door.answered);
  const conversations = createConversations({
    api,
    socket,
    outbox: createOutbox(memory),
    retryDelay: delay,
    onSession: sessions.meet,
    onLoggedOut: door.shut,
  });
  const questions = createQuestions(api, createHalves(memory), name, door.shut, conversations.sent);
  const offers = createOffers(api);
  const told = createTold();
  const folds = createAllFolds();
  const kept = createKept(api, door.shut);
  const knocking = createHeartbeat(door.look, page, () => LOOK_AT_DOOR_MS);

  effect(() => {
    if (door.state.value === 'shut') knocking.start();
    else knocking.stop();
    if (door.state.value === 'open') {
      sessions.start();
      questions.reload();
      kept.start();
      socket.start();
    } else {
      // whoever comes next may not be allowed to see what is here
      socket.stop();
      sessions.stop();
      conversations.forget();
      folds.forget();
      questions.forget();
      offers.forget();
      told.forget();
      kept.stop();
    }
  });

  return {
    api,
    door,
    sessions,
    conversations,
    questions,
    offers,
    drafts: createDrafts(memory),
    folds,
    memory,
    kept,
    told,
    wish: signal<Wish | null>(null),
    line: computed(() => line.value),
    tryNow() {
      sessions.refreshNow();
      conversations.wake();
      socket.now();
    },
    onEvents: (listener) => void listeners.push(listener),
  };
}
