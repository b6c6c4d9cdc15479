import type { Conversation, Message } from '../conversation/conversation';
import { isTyped, wordsOf } from '../conversation/optimistic';
import { asTyped, commandOf } from '../thread/rows/promptText';

/** What was said before, commands included, the last first: for arrow-up. */
export function saidBefore(state: Conversation): string[] {
  const confirmed = state.messages.filter(isTyped).map(typedWords);
  const onTheirWay = state.sendings.map((sending) => sending.text);
  const newestFirst = [...confirmed, ...onTheirWay].reverse();
  return [...new Set(newestFirst)].filter((words) => words !== '');
}

/** Without what Claude Code wrapped around it; what a command printed was typed by nobody. */
function typedWords({ kind, content }: Message): string {
  const words = wordsOf(content);
  return kind === 'command' ? (commandOf(words).typed ?? '') : asTyped(words);
}
