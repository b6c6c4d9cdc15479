import type { EventBus, EventOf } from '../api/eventBus';
import { createSessionTexts, type SessionTexts } from './sessionTexts';

const TYPES = ['session/notified', 'message/added', 'session/removed'] as const;

/** The last hook notification of each session that somebody else runs. */
export function createHookNotices(events: EventBus): SessionTexts {
  const notices = createSessionTexts();
  events.on(TYPES, (event) => notices.set(event.sessionId, noticeAfter(event)));
  return notices;
}

/** Null: the notice is over; undefined: the event says nothing about it. */
function noticeAfter(event: EventOf<(typeof TYPES)[number]>): string | null | undefined {
  switch (event.type) {
    case 'session/notified':
      if (event.event === 'Notification') return event.text ?? undefined;
      return event.event === 'Stop' ? 'Claude has finished.' : null;
    case 'message/added':
      // somebody goes on with the session
      return event.message.kind === 'prompt' ? null : undefined;
    case 'session/removed':
      return null;
  }
}
