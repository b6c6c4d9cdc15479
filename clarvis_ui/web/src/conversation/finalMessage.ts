import type { Message, Partial } from '../api/messages';

/**
 * Whether this message is the streamed block, finished. The next block of a reply may have begun
 * before the last one is told to be finished, so the reply's id alone does not say.
 */
export function isFinalOf(
  message: Message,
  partial: Partial | null,
  messages: readonly Message[],
): boolean {
  if (partial === null || message.messageId !== partial.messageId) return false;
  const [block] = message.content;
  switch (partial.kind) {
    case 'input':
      if (block?.id === partial.toolUseId) return true;
      break;
    case 'text':
      if (typeof block?.text === 'string' && block.text.startsWith(partial.text.trimEnd()))
        return true;
      break;
    case 'thinking':
      if (block?.type === 'thinking') return true;
      break;
    default:
      return partial.kind satisfies never;
  }
  // blocks are finished in order: as many as came before it, and one more
  const finished = messages.filter(
    (other) => other.messageId === message.messageId && other.uuid !== message.uuid,
  );
  return finished.length >= partial.index;
}

const KEY_FIELDS =
  /"(file_path|notebook_path|command|pattern|url|query|description|path)"\s*:\s*"((?:[^"\\]|\\.)*)("?)/g;

/** The telling fields of JSON that is not whole yet. */
export function partialInput(text: string): Record<string, string> {
  const input: Record<string, string> = {};
  // they come early; the long ones after them are not needed
  for (const [, name = '', value = '', closed] of text.slice(0, 2000).matchAll(KEY_FIELDS)) {
    if (!closed && name !== 'command') continue;
    try {
      input[name] = JSON.parse(`"${value}"`);
    } catch {
      input[name] = value;
    }
  }
  return input;
}
