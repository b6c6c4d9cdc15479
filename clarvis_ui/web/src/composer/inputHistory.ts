import type { Conversation, Message } from '../conversation/conversation';
import { isTyped, textOf } from '../conversation/optimistic';
import { asTyped, commandOf } from '../thread/rows/promptText';

/** What was said before, commands included, the last first: for arrow-up. */
export function inputHistory(state: Conversation): string[] {
  const confirmed = state.messages.filter(isTyped).map(typedWords);
  const onTheirWay = state.optimistic.map((pending) => pending.text);
  const newestFirst = [...confirmed, ...onTheirWay].reverse();
  return [...new Set(newestFirst)].filter((words) => words !== '');
}

/** Without what Claude Code wrapped around it; what a command printed was typed by nobody. */
function typedWords({ kind, content }: Message): string {
  const words = textOf(content);
  return kind === 'command' ? (commandOf(words).typed ?? '') : asTyped(words);
}
