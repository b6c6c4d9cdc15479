import { computed, effect } from '@preact/signals';
import type { AppStore } from '../app/store';
import type { SpokenRequest } from '../composer/spokenActions';
import { createReadAloud } from './readAloud';
import { createCommandStore } from './store';
import { createUndoSend } from './undoSend';

export type CommandSetup = ReturnType<typeof createCommandSetup>;

export interface CommandSetupOptions {
  app: AppStore;
  speak(words: string): void;
  /** The page goes along to a session, if nothing else was opened since. */
  follow(sessionId: string): void;
}

export function createCommandSetup({ app, speak, follow }: CommandSetupOptions) {
  const { api, storage, conversations, sessions, auth } = app;
  const readAloud = createReadAloud(app.events, storage, speak);
  const undoSend = createUndoSend({
    storage,
    deliver(delivery) {
      readAloud.expect(delivery.uuid);
      return conversations.deliver(delivery);
    },
    onSent(entry) {
      if (entry.follow && entry.sessionId !== null) follow(entry.sessionId);
    },
  });
  const command = createCommandStore({
    api,
    storage,
    sessions: computed(() => sessions.listing.value.sessions),
    // in the page itself one stays with what one began; over it one goes on with what one did
    onSend: (text, destination) => undoSend.begin(text, destination, !command.isOpen.value),
  });
  effect(() => {
    if (auth.state.value === 'loggedIn') undoSend.restore();
  });
  return {
    command,
    undoSend,
    readAloud,
    requestAction(request: SpokenRequest) {
      command.write('');
      app.spokenRequest.value = request;
    },
    /** Whether something is written in a session's field: then nothing is put there. */
    hasDraft: (sessionId: string) => app.drafts.read(sessionId).text.trim() !== '',
  };
}

/** Sends held commands when the page is left or hidden. */
export function sendOnPageHide(browser: Window, { undoSend }: CommandSetup): void {
  browser.addEventListener('pagehide', undoSend.sendAll);
  browser.document.addEventListener('visibilitychange', () => {
    if (browser.document.visibilityState === 'hidden') undoSend.sendAll();
  });
}
