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

const place = createRouter(window);
const memory = createBrowserStorage(storageOf(window), window);
const clarvis = createAppStore({
  api: createApi(fetch.bind(window)),
  memory,
  page: pageVisibilityOf(document, window),
  openSocket: () => new WebSocket(`${location.origin.replace(/^http/, 'ws')}/api/ws`),
  name: browserName(navigator.userAgent),
});
const { auth: door, sessions, attention: questions } = clarvis;
const known = (id: string | null) =>
  id === null ? undefined : sessions.listing.value.sessions.get(id);

const notifications = createNotifications(
  clarvis.events,
  notifierOf(window),
  memory,
  (attention) => {
    const session = known(attention.sessionId);
    return {
      title: session ? titleOf(session) : 'Clarvis',
      body: `Claude ${sentenceOf(attention)}`,
    };
  },
  (sessionId) => {
    const session = known(sessionId);
    return session ? titleOf(session) : 'Clarvis';
  },
  (sessionId) => {
    location.hash = sessionHref(sessionId);
  },
);
const commanding = createCommandSetup({
  clarvis,
  speak: (words) => speak(window, words),
  follow(sessionId) {
    const nothingOpen =
      !place.session.value &&
      !place.inbox.value &&
      !place.archive.value &&
      !place.usage.value &&
      !place.timeline.value;
    if (nothingOpen) location.hash = sessionHref(sessionId);
  },
});
sendOnPageHide(window, commanding);

effect(() => {
  const session = known(place.session.value);
  showInTab(document, questions.inbox.value.open.length, session ? titleOf(session) : null);
});

void door.start(place.takeLoginCode());
// a login link that is pasted into an open page changes the address and loads nothing
place.onChange(() => {
  const code = place.takeLoginCode();
  if (code !== null) void door.start(code);
});

followVisibleHeight(window);

const root = document.getElementById('clarvis');
if (root) {
  render(
    <App clarvis={clarvis} place={place} notifications={notifications} commanding={commanding} />,
    root,
  );
}
// a session in the address is wanted at once, the rest when the list stands
if (place.session.value !== null) prefetchPages();
else addEventListener('load', () => setTimeout(prefetchPages, 500));
