import { computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { Api } from '../api/client';
import { createEventBus, type EventBus } from '../api/eventBus';
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
import { createActivity } from '../sessions/activity';
import { createHookNotices } from '../sessions/hookNotices';
import type { SessionTexts } from '../sessions/sessionTexts';
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
  /** What running sessions are doing, in words. */
  activity: SessionTexts;
  /** What Claude Code said of itself in terminals. */
  hookNotices: SessionTexts;
  /** What was said in the command bar of a session, until its page has done it. */
  wish: Signal<Wish | null>;
  /** How the line to the keeper is. */
  line: ReadonlySignal<SocketState>;
  /** Tries now what would be tried later. */
  tryNow(): void;
  events: EventBus;
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
  const events = createEventBus();
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
      onEvents: events.publish,
      onResync(sessionId) {
        conversations.resync(sessionId);
        if (sessionId !== null) return;
        sessions.refreshNow();
        questions.reload();
      },
      onLoggedOut: () => void door.doubt(),
    },
  );
  // the order of the events: the list is first, because the others name sessions by it
  const sessions = createSessionStore(api, events, page, socket, door.answered);
  const conversations = createConversations({
    api,
    events,
    socket,
    outbox: createOutbox(memory),
    retryDelay: delay,
    onSession: sessions.meet,
  });
  const questions = createQuestions(api, events, createHalves(memory), name, conversations.sent);
  const offers = createOffers(api);
  const hookNotices = createHookNotices(events);
  const activity = createActivity(events);
  const folds = createAllFolds();
  const kept = createKept(api);
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
      hookNotices.forget();
      activity.forget();
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
    activity,
    hookNotices,
    wish: signal<Wish | null>(null),
    line: computed(() => line.value),
    tryNow() {
      sessions.refreshNow();
      conversations.wake();
      socket.now();
    },
    events,
  };
}
