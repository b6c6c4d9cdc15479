import './ui/base.css';
import { effect } from '@preact/signals';
import { render } from 'preact';
import { createDoor } from './state/door';
import { attentionOf } from './state/heartbeat';
import { createPlace } from './state/place';
import { createSessionStore } from './state/sessions';
import { createApi } from './transport/api';
import { followVisibleHeight } from './ui/visibleHeight';
import { App } from './views/App';

const api = createApi(fetch.bind(window));
const place = createPlace(window);
const door = createDoor(api);
const sessions = createSessionStore(api, attentionOf(document, window), door.shut);

effect(() => {
  if (door.state.value === 'open') sessions.start();
  else sessions.stop();
});
void door.arrive(place.takeLogin());
// a login link that is pasted into an open page changes the address and loads nothing
place.onChange(() => {
  const code = place.takeLogin();
  if (code !== null) void door.arrive(code);
});

followVisibleHeight(window);

const root = document.getElementById('clarvis');
if (root) render(<App door={door} place={place} sessions={sessions} />, root);
