import { computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { Api } from '../api/client';
import { createEventBus, type EventBus } from '../api/eventBus';
import { createSocket, type SocketOptions, type SocketState } from '../api/socket';
import { type ArchiveStore, createArchiveStore } from '../archive/store';
import { createAnswerDrafts } from '../attention/answerDrafts';
import { type AttentionStore, createAttentionStore } from '../attention/store';
import { createDrafts, type Drafts } from '../composer/drafts';
import type { SpokenRequest } from '../composer/spokenActions';
import { createOpenConversations, type OpenConversations } from '../conversation/openConversations';
import { createOutbox } from '../conversation/outbox';
import { createExpandStates, type ExpandStates } from '../lib/expanded';
import { createPoller, type PageVisibility, retryDelay } from '../lib/poller';
import type { BrowserStorage } from '../lib/storage';
import { type CapabilityStore, createCapabilityStore } from '../session/settings/capabilities';
import { createActivity } from '../sessions/activity';
import { createHookNotices } from '../sessions/hookNotices';
import type { SessionTexts } from '../sessions/sessionTexts';
import { createSessionStore, type SessionStore } from '../sessions/store';
import { type Auth, createAuth } from './auth';

/** Everything that the page knows and can do: the stores, and the one line that feeds them all. */
export interface AppStore {
  api: Api;
  auth: Auth;
  sessions: SessionStore;
  conversations: OpenConversations;
  attention: AttentionStore;
  capabilities: CapabilityStore;
  drafts: Drafts;
  expandStates: ExpandStates;
  storage: BrowserStorage;
  archive: ArchiveStore;
  /** What running sessions are doing, in words. */
  activity: SessionTexts;
  /** What Claude Code said of itself in terminals. */
  hookNotices: SessionTexts;
  /** What was said in the command bar of a session, until its page has done it. */
  spokenRequest: Signal<SpokenRequest | null>;
  /** How the line to the keeper is. */
  connection: ReadonlySignal<SocketState>;
  /** Tries now what would be tried later. */
  retryNow(): void;
  events: EventBus;
}

// how soon a page that was shut notices that it is let in again
const LOGIN_POLL_MS = 4000;

export interface AppStoreOptions {
  api: Api;
  storage: BrowserStorage;
  page: PageVisibility;
  openSocket: SocketOptions['open'];
  /** How this browser is called before others. */
  name: string;
}

export function createAppStore({
  api,
  storage,
  page,
  openSocket,
  name,
}: AppStoreOptions): AppStore {
  const connection = signal<SocketState>('off');
  const events = createEventBus();
  const delay = (failures: number): number => retryDelay(failures, Math.random());
  const auth = createAuth(api);

  const socket = createSocket(
    { open: openSocket, onReturn: page.onReturn, retryDelay: delay },
    {
      onState(state) {
        connection.value = state;
        sessions.setLive(state === 'live');
        if (state === 'live') conversations.retryFailed();
      },
      onEvents: events.publish,
      onResync(sessionId) {
        conversations.resync(sessionId);
        if (sessionId !== null) return;
        sessions.refreshNow();
        attentionStore.reload();
      },
      onLoggedOut: () => void auth.verify(),
    },
  );
  // the order of the events: the list is first, because the others name sessions by it
  const sessions = createSessionStore(api, events, page, socket, auth.takeHealth);
  const conversations = createOpenConversations({
    api,
    events,
    socket,
    outbox: createOutbox(storage),
    retryDelay: delay,
    onSession: sessions.addFromPage,
  });
  const attentionStore = createAttentionStore(
    api,
    events,
    createAnswerDrafts(storage),
    name,
    conversations.sent,
  );
  const capabilities = createCapabilityStore(api);
  const hookNotices = createHookNotices(events);
  const activity = createActivity(events);
  const expandState = createExpandStates();
  const archive = createArchiveStore(api);
  const loginPoller = createPoller(auth.check, page, () => LOGIN_POLL_MS);

  effect(() => {
    if (auth.state.value === 'loggedOut') loginPoller.start();
    else loginPoller.stop();
    if (auth.state.value === 'loggedIn') {
      sessions.start();
      attentionStore.reload();
      archive.start();
      socket.start();
    } else {
      // whoever comes next may not be allowed to see what is here
      socket.stop();
      sessions.stop();
      conversations.forget();
      expandState.forget();
      attentionStore.forget();
      capabilities.forget();
      hookNotices.forget();
      activity.forget();
      archive.stop();
    }
  });

  return {
    api,
    auth,
    sessions,
    conversations,
    attention: attentionStore,
    capabilities,
    drafts: createDrafts(storage),
    expandStates: expandState,
    storage,
    archive,
    activity,
    hookNotices,
    spokenRequest: signal<SpokenRequest | null>(null),
    connection: computed(() => connection.value),
    retryNow() {
      sessions.refreshNow();
      conversations.retryFailed();
      socket.retryNow();
    },
    events,
  };
}
