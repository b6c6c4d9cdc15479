import { computed, effect } from '@preact/signals';
import type { Clarvis } from '../app/store';
import type { Wish } from '../composer/spokenActions';
import { type Aloud, createAloud } from './readAloud';
import { type Command, createCommand } from './store';
import { createHolding, type Holding } from './undoSend';

/** The command bar: what is said there, what is on its way, and the reply to it. */
export interface Commanding {
  command: Command;
  holding: Holding;
  aloud: Aloud;
  /** Words that mean a button of a session's page: that page does what they mean. */
  ask(wish: Wish): void;
  /** Whether something is written in a session's field: then nothing is put there. */
  hasDraft(sessionId: string): boolean;
}

export interface CommandingWorld {
  clarvis: Clarvis;
  speak(words: string): void;
  /** The page goes along to a session, if nothing else was opened since. */
  follow(sessionId: string): void;
}

export function createCommanding({ clarvis, speak, follow }: CommandingWorld): Commanding {
  const { api, memory, conversations, sessions, door } = clarvis;
  const aloud = createAloud(clarvis.events, memory, speak);
  const holding = createHolding({
    memory,
    deliver(delivery) {
      aloud.expect(delivery.uuid);
      return conversations.deliver(delivery);
    },
    onSent(entry) {
      if (entry.follow && entry.sessionId !== null) follow(entry.sessionId);
    },
  });
  const command = createCommand({
    api,
    memory,
    sessions: computed(() => sessions.listing.value.sessions),
    // in the page itself one stays with what one began; over it one goes on with what one did
    onSend: (text, way) => holding.begin(text, way, !command.shown.value),
  });
  effect(() => {
    if (door.state.value === 'open') holding.restore();
  });
  return {
    command,
    holding,
    aloud,
    ask(wish) {
      command.write('');
      clarvis.wish.value = wish;
    },
    hasDraft: (sessionId) => clarvis.drafts.read(sessionId).text.trim() !== '',
  };
}

/** Who leaves the page, or only looks away from it on a phone, meant what was sent. */
export function sendOnLeaving(browser: Window, { holding }: Commanding): void {
  browser.addEventListener('pagehide', holding.leave);
  browser.document.addEventListener('visibilitychange', () => {
    if (browser.document.visibilityState === 'hidden') holding.leave();
  });
}
