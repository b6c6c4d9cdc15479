import type { EventBus, EventOf } from '../api/eventBus';
import type { Message } from '../api/messages';
import { activityOf } from './labels';
import { createSessionTexts, type SessionTexts } from './sessionTexts';

const TYPES = [
  'turn/started',
  'message/added',
  'turn/finished',
  'session/failed',
  'session/removed',
] as const;

/** What each running session is doing, by the last thing that it did. */
export function createActivity(events: EventBus): SessionTexts {
  const activity = createSessionTexts();
  events.on(TYPES, (event) => activity.set(event.sessionId, activityAfter(event)));
  return activity;
}

/** Null: nothing in particular; undefined: the event says nothing about it. */
function activityAfter(event: EventOf<(typeof TYPES)[number]>): string | null | undefined {
  switch (event.type) {
    case 'turn/started':
      return 'thinking…';
    case 'turn/finished':
    case 'session/failed':
    case 'session/removed':
      return null;
    case 'message/added':
      return afterMessage(event.message);
  }
}

function afterMessage({ content, parentToolUseId }: Message): string | undefined {
  // a subagent's steps are its own; the session waits for it
  if (parentToolUseId !== null) return undefined;
  const last = content.at(-1);
  switch (last?.type) {
    case 'tool_use':
      return activityOf(typeof last.name === 'string' ? last.name : null, last.input);
    case 'text':
      return 'writing…';
    case 'tool_result':
    case 'thinking':
      return 'thinking…';
    default:
      return undefined;
  }
}
