import { type ReadonlySignal, signal } from '@preact/signals';
import { activityOf } from './labels';

/** What sessions that run are doing just now, in words, by the last thing each of them did. */
export interface Activity {
  readonly doing: ReadonlySignal<ReadonlyMap<string, string>>;
  note(event: ActivityEvent): void;
  forget(): void;
}

/** As much of the keeper's events as is needed here. */
export interface ActivityEvent {
  type: string;
  sessionId: string;
  message?: { content: readonly unknown[]; parentToolUseId: string | null };
}

export function createActivity(): Activity {
  const doing = signal<ReadonlyMap<string, string>>(new Map());

  function set(sessionId: string, words: string | null): void {
    if ((doing.value.get(sessionId) ?? null) === words) return;
    const next = new Map(doing.value);
    if (words === null) next.delete(sessionId);
    else next.set(sessionId, words);
    doing.value = next;
  }

  return {
    doing,
    note(event) {
      const words = wordsAfter(event);
      if (words !== undefined) set(event.sessionId, words);
    },
    forget() {
      doing.value = new Map();
    },
  };
}

/** Null: nothing in particular; undefined: the event says nothing about it. */
export function wordsAfter(event: ActivityEvent): string | null | undefined {
  switch (event.type) {
    case 'turn/started':
      return 'thinking…';
    case 'turn/finished':
    case 'session/failed':
    case 'session/removed':
      return null;
    case 'message/added':
      return event.message && afterMessage(event.message);
    default:
      return undefined;
  }
}

function afterMessage(message: {
  content: readonly unknown[];
  parentToolUseId: string | null;
}): string | undefined {
  // a subagent's steps are its own; the session waits for it
  if (message.parentToolUseId !== null) return undefined;
  const last = message.content.at(-1);
  if (typeof last !== 'object' || last === null || !('type' in last)) return undefined;
  if (last.type === 'tool_use' && 'name' in last) {
    const name = typeof last.name === 'string' ? last.name : null;
    return activityOf(name, 'input' in last ? last.input : null);
  }
  if (last.type === 'text') return 'writing…';
  if (last.type === 'tool_result' || last.type === 'thinking') return 'thinking…';
  return undefined;
}
