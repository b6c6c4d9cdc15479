import type { Conversation } from './conversation';
import { wordsOf } from './sending';

/** What was said before, the last first: for arrow-up. */
export function saidBefore(state: Conversation): string[] {
  const confirmed = state.messages
    .filter(({ kind, role, agentId }) => kind === 'prompt' && role === 'user' && agentId === null)
    .map((message) => wordsOf(message.content));
  const onTheirWay = state.sendings.map((sending) => sending.text);
  const newestFirst = [...confirmed, ...onTheirWay].reverse();
  return [...new Set(newestFirst)].filter((words) => words !== '');
}
