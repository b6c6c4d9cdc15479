import { computed, effect } from '@preact/signals';
import type { AppStore } from '../app/store';
import type { SpokenRequest } from '../composer/spokenActions';
import { createReadAloud, type ReadAloud } from './readAloud';
import { type CommandStore, createCommandStore } from './store';
import { createUndoSend, type UndoSend } from './undoSend';

/** The command bar: what is said there, what is on its way, and the reply to it. */
export interface CommandSetup {
  command: CommandStore;
  undoSend: UndoSend;
  readAloud: ReadAloud;
  /** Words that mean a button of a session's page: that page does what they mean. */
  ask(request: SpokenRequest): void;
  /** Whether something is written in a session's field: then nothing is put there. */
  hasDraft(sessionId: string): boolean;
}

export interface CommandSetupOptions {
  clarvis: AppStore;
  speak(words: string): void;
  /** The page goes along to a session, if nothing else was opened since. */
  follow(sessionId: string): void;
}

export function createCommandSetup({ clarvis, speak, follow }: CommandSetupOptions): CommandSetup {
  const { api, storage: memory, conversations, sessions, auth: door } = clarvis;
  const aloud = createReadAloud(clarvis.events, memory, speak);
  const holding = createUndoSend({
    memory,
    deliver(delivery) {
      aloud.expect(delivery.uuid);
      return conversations.deliver(delivery);
    },
    onSent(entry) {
      if (entry.follow && entry.sessionId !== null) follow(entry.sessionId);
    },
  });
  const command = createCommandStore({
    api,
    memory,
    sessions: computed(() => sessions.listing.value.sessions),
    // in the page itself one stays with what one began; over it one goes on with what one did
    onSend: (text, way) => holding.begin(text, way, !command.isShown.value),
  });
  effect(() => {
    if (door.state.value === 'open') holding.restore();
  });
  return {
    command,
    undoSend: holding,
    readAloud: aloud,
    ask(request) {
      command.write('');
      clarvis.spokenRequest.value = request;
    },
    hasDraft: (sessionId) => clarvis.drafts.read(sessionId).text.trim() !== '',
  };
}

/** Who leaves the page, or only looks away from it on a phone, meant what was sent. */
export function sendOnPageHide(browser: Window, { undoSend: holding }: CommandSetup): void {
  browser.addEventListener('pagehide', holding.leave);
  browser.document.addEventListener('visibilitychange', () => {
    if (browser.document.visibilityState === 'hidden') holding.leave();
  });
}
