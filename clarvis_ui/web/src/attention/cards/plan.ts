import { fields, text } from '../../api/decode';
import type { Message } from '../../conversation/conversation';

const PLAN_FILE = /[\\/]plans[\\/][^\\/]+\.md$/;

/**
 * The plan that is asked about. The question itself does not always carry it: then it stands in the
 * call that asks, or in the file that was written just before.
 */
export function findPlan(messages: readonly Message[], toolUseId: string | null): string | null {
  for (const message of messages.toReversed()) {
    for (const block of message.content.toReversed()) {
      if (block.type !== 'tool_use') continue;
      const input = fields(block.input);
      if (block.id === toolUseId && text(input?.plan)) return text(input?.plan);
      if (block.name === 'Write' && PLAN_FILE.test(text(input?.file_path) ?? '')) {
        return text(input?.content);
      }
    }
  }
  return null;
}
