import type { Conversation, Message } from '../conversation/conversation';
import { isTyped, textOf } from '../conversation/optimistic';
import { asTyped, commandOf } from '../thread/rows/promptText';

/** Earlier prompts and commands, newest first: for arrow-up. */
export function inputHistory(state: Conversation): string[] {
  const confirmed = state.messages.filter(isTyped).map(typedWords);
  const onTheirWay = state.optimistic.map((pending) => pending.text);
  const newestFirst = [...confirmed, ...onTheirWay].reverse();
  return [...new Set(newestFirst)].filter((words) => words !== '');
}

/** As typed, without Claude Code's tags; the output of a command is left out. */
function typedWords({ kind, content }: Message): string {
  const words = textOf(content);
  return kind === 'command' ? (commandOf(words).typed ?? '') : asTyped(words);
}
