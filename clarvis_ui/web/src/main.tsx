import './ui/base.css';
import './ui/forced-colors.css';
import { effect } from '@preact/signals';
import { render } from 'preact';
import { createApi } from './api/client';
import { App } from './app/App';
import { prefetchPages } from './app/Pages';
import { createRouter } from './app/router';
import { sessionHref } from './app/routes';
import { createAppStore } from './app/store';
import { showInTab } from './app/tabTitle';
import { createNotifications, notifierOf } from './attention/notifications';
import { browserName } from './attention/store';
import { createCommandSetup, sendOnPageHide } from './command/setup';
import { speak } from './command/speech';
import { pageVisibilityOf } from './lib/poller';
import { createBrowserStorage, storageOf } from './lib/storage';
import { sentenceOf, titleOf } from './sessions/labels';
import { followVisibleHeight } from './ui/visibleHeight';

const router = createRouter(window);
const storage = createBrowserStorage(storageOf(window), window);
const app = createAppStore({
  api: createApi(fetch.bind(window)),
  storage,
  page: pageVisibilityOf(document, window),
  openSocket: () => new WebSocket(`${location.origin.replace(/^http/, 'ws')}/api/ws`),
  name: browserName(navigator.userAgent),
});
const { auth, sessions, attention: attentionStore } = app;
const sessionOf = (id: string | null) =>
  id === null ? undefined : sessions.listing.value.sessions.get(id);

const notifications = createNotifications(
  app.events,
  notifierOf(window),
  storage,
  (attention) => {
    const session = sessionOf(attention.sessionId);
    return {
      title: session ? titleOf(session) : 'Clarvis',
      body: `Claude ${sentenceOf(attention)}`,
    };
  },
  (sessionId) => {
    const session = sessionOf(sessionId);
    return session ? titleOf(session) : 'Clarvis';
  },
  (sessionId) => {
    location.hash = sessionHref(sessionId);
  },
);
const commandSetup = createCommandSetup({
  app,
  speak: (words) => speak(window, words),
  follow(sessionId) {
    const { session, inbox, archive, usage, timeline } = router.route.value;
    const nothingOpen = !session && !inbox && !archive && !usage && !timeline;
    if (nothingOpen) location.hash = sessionHref(sessionId);
  },
});
sendOnPageHide(window, commandSetup);

effect(() => {
  const session = sessionOf(router.route.value.session);
  showInTab(document, attentionStore.inbox.value.open.length, session ? titleOf(session) : null);
});

void auth.start(router.takeLoginCode());
// a login link that is pasted into an open page changes the address and loads nothing
router.onChange(() => {
  const code = router.takeLoginCode();
  if (code !== null) void auth.start(code);
});

followVisibleHeight(window);

const root = document.getElementById('clarvis');
if (root) {
  render(
    <App app={app} router={router} notifications={notifications} commandSetup={commandSetup} />,
    root,
  );
}
// a session in the address is wanted at once, the rest when the list stands
if (router.route.value.session !== null) prefetchPages();
else addEventListener('load', () => setTimeout(prefetchPages, 500));
