import type { Signal } from '@preact/signals';
import type { EventBus } from '../api/eventBus';
import { textOf } from '../conversation/optimistic';
import type { BrowserStorage } from '../lib/storage';
import { persistedSignal } from '../lib/storage';

/** Reads short replies to commands aloud, if that is switched on. */
export interface ReadAloud {
  readonly state: Signal<'off' | 'on'>;
  /** The reply to this message is wanted. */
  expect(uuid: string): void;
}

export function createReadAloud(
  events: EventBus,
  storage: BrowserStorage,
  speak: (words: string) => void,
): ReadAloud {
  const state = persistedSignal(storage, 'aloud', ['off', 'on']);
  const wanted = new Set<string>();
  /** The last reply of each session, in a turn that is awaited. */
  const lastReplies = new Map<string, string>();

  events.on(['message/added', 'turn/finished'], (event) => {
    if (event.type === 'message/added') {
      const { kind, parentToolUseId, content } = event.message;
      if (wanted.size === 0 || kind !== 'reply' || parentToolUseId !== null) return;
      const words = textOf(content);
      if (words !== '') lastReplies.set(event.sessionId, words);
    } else if (event.uuid !== null && wanted.delete(event.uuid)) {
      const words = speakable(lastReplies.get(event.sessionId) ?? '');
      lastReplies.delete(event.sessionId);
      if (state.value === 'on' && event.outcome === 'done' && words !== null) speak(words);
    }
  });

  return { state, expect: (uuid) => void wanted.add(uuid) };
}

// about as long as one listens
const MAX_CHARACTERS = 320;

/** The reply as speech; null where it is long or has code. */
export function speakable(reply: string): string | null {
  if (/```|~~~|^\s*\|.*\|\s*$/m.test(reply)) return null;
  const words = reply
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/^\s*(?:#{1,6}|[-*+]|\d+\.|>)\s+/gm, '')
    .replaceAll(/[*_`~]+/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return words === '' || words.length > MAX_CHARACTERS ? null : words;
}
