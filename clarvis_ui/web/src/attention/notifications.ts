import { type ReadonlySignal, signal } from '@preact/signals';
import type { Attention } from '../api/attention';
import type { EventBus } from '../api/eventBus';
import type { SessionNotified } from '../api/events';
import type { BrowserStorage } from '../lib/storage';

/** Desktop notifications of open questions. */
export interface Notifications {
  readonly state: ReadonlySignal<NotificationState>;
  turnOn(): Promise<void>;
  turnOff(): void;
}

export type NotificationState =
  | 'off'
  | 'on'
  /** The person blocked them in this browser. */
  | 'refused'
  | 'missing';

export interface Notifier {
  permission(): 'granted' | 'denied' | 'default' | 'missing';
  ask(): Promise<unknown>;
  show(title: string, body: string, tag: string, onClick: () => void): () => void;
  /** Whether the person looks at the page just now. */
  isLookedAt(): boolean;
}

const KEY = 'notifications';

export function createNotifications(
  events: EventBus,
  notifier: Notifier,
  storage: BrowserStorage,
  words: (attention: Attention) => { title: string; body: string },
  nameOf: (sessionId: string) => string,
  go: (sessionId: string) => void,
): Notifications {
  const state = signal<NotificationState>(stateNow());
  const visible = new Map<string, () => void>();
  const isWanted = (): boolean => state.value === 'on' && !notifier.isLookedAt();

  function stateNow(): NotificationState {
    const permission = notifier.permission();
    if (permission === 'missing') return 'missing';
    if (permission === 'denied') return 'refused';
    return permission === 'granted' && storage.read(KEY) === true ? 'on' : 'off';
  }

  events.on('attention/raised', ({ attention }) => {
    if (!isWanted() || visible.has(attention.id)) return;
    const { title, body } = words(attention);
    visible.set(
      attention.id,
      notifier.show(title, body, attention.id, () => go(attention.sessionId)),
    );
  });
  events.on('attention/settled', ({ attentionId }) => {
    visible.get(attentionId)?.();
    visible.delete(attentionId);
  });
  events.on('session/notified', (event) => {
    if (!isWanted() || !isNews(event)) return;
    const { sessionId, text } = event;
    notifier.show(nameOf(sessionId), text ?? '', `told ${sessionId}`, () => go(sessionId));
  });

  return {
    state,
    async turnOn() {
      await notifier.ask();
      storage.write(KEY, true);
      state.value = stateNow();
    },
    turnOff() {
      storage.write(KEY, false);
      state.value = stateNow();
    },
  };
}

/** A notification of a terminal; its permission prompts come as attention. */
function isNews({ event, text, reason }: SessionNotified): boolean {
  return event === 'Notification' && text !== null && reason !== 'permission_prompt';
}

export function notifierOf(window: Window & typeof globalThis): Notifier {
  return {
    permission: () => (canNotify(window) ? window.Notification.permission : 'missing'),
    ask: () => window.Notification.requestPermission(),
    isLookedAt: () => window.document.visibilityState === 'visible' && window.document.hasFocus(),
    show(title, body, tag, onClick) {
      try {
        const notification = new window.Notification(title, { body, tag, icon: '/favicon.svg' });
        notification.onclick = () => {
          window.focus();
          onClick();
          notification.close();
        };
        return () => notification.close();
      } catch {
        return () => {}; // it could before it was allowed to
      }
    },
  };
}

/** On phones only a service worker may show notifications, which only a try finds out. */
function canNotify(window: Window & typeof globalThis): boolean {
  if (!('Notification' in window) || !window.isSecureContext) return false;
  // without permission nothing is shown; with it, it was tried before
  if (window.Notification.permission === 'granted') return true;
  try {
    new window.Notification('').close();
    return true;
  } catch {
    return false;
  }
}
