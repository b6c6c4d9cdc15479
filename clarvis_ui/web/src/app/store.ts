import { computed, effect, signal } from '@preact/signals';
import type { Api } from '../api/client';
import { createEventBus } from '../api/eventBus';
import { createSocket, type SocketOptions, type SocketState } from '../api/socket';
import { createArchiveStore } from '../archive/store';
import { createAnswerDrafts } from '../attention/answerDrafts';
import { createAttentionStore } from '../attention/store';
import { createDrafts } from '../composer/drafts';
import type { SpokenRequest } from '../composer/spokenActions';
import { createOpenConversations } from '../conversation/openConversations';
import { createOutbox } from '../conversation/outbox';
import { createExpandStates } from '../lib/expanded';
import { createPoller, type PageVisibility, retryDelay } from '../lib/poller';
import type { BrowserStorage } from '../lib/storage';
import { createCapabilityStore } from '../session/settings/capabilities';
import { createActivity } from '../sessions/activity';
import { createHookNotices } from '../sessions/hookNotices';
import { createSessionStore } from '../sessions/store';
import { createAuth } from './auth';

/** The stores of the page, and the socket that feeds them. */
export type AppStore = ReturnType<typeof createAppStore>;

// how soon a page that is logged out notices that another tab logged in
const LOGIN_POLL_MS = 4000;

export interface AppStoreOptions {
  api: Api;
  storage: BrowserStorage;
  page: PageVisibility;
  openSocket: SocketOptions['open'];
  name: string;
}

export function createAppStore({ api, storage, page, openSocket, name }: AppStoreOptions) {
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
        attention.reload();
      },
      onLoggedOut: () => void auth.verify(),
    },
  );
  // listeners get events in the order of these lines: the list is first, because others read titles
  const sessions = createSessionStore(api, events, page, socket, auth.takeHealth);
  const conversations = createOpenConversations({
    api,
    events,
    socket,
    outbox: createOutbox(storage),
    retryDelay: delay,
    onSession: sessions.addFromPage,
  });
  const answers = createAnswerDrafts(storage);
  const attention = createAttentionStore(api, events, answers, name, conversations.sent);
  const capabilities = createCapabilityStore(api);
  const hookNotices = createHookNotices(events);
  const activity = createActivity(events);
  const expandStates = createExpandStates();
  const archive = createArchiveStore(api);
  const loginPoller = createPoller(auth.check, page, () => LOGIN_POLL_MS);

  effect(() => {
    if (auth.state.value === 'loggedOut') loginPoller.start();
    else loginPoller.stop();
    if (auth.state.value === 'loggedIn') {
      sessions.start();
      attention.reload();
      archive.start();
      socket.start();
    } else {
      // who logs in next may not be allowed to see this
      socket.stop();
      sessions.stop();
      conversations.forget();
      expandStates.forget();
      attention.forget();
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
    attention,
    capabilities,
    drafts: createDrafts(storage),
    expandStates,
    storage,
    archive,
    activity,
    hookNotices,
    /** What was spoken in the command bar about a session, until its page has done it. */
    spokenRequest: signal<SpokenRequest | null>(null),
    connection: computed(() => connection.value),
    /** Does now what would be retried later. */
    retryNow() {
      sessions.refreshNow();
      conversations.retryFailed();
      socket.retryNow();
    },
    events,
  };
}
