import { useMemo } from 'preact/hooks';
import type { Attention } from '../../api/attention';
import type { Api } from '../../api/client';
import { fields, text } from '../../api/decode';
import type { Message } from '../../conversation/conversation';
import { useRequest } from '../../ui/useRequest';

/** Where plans are looked for, where the question does not have its own. */
export type PlanSource = Pick<Api, 'conversation'>;

const FAR_ENOUGH = 60;

/** The words of the plan; null while they are being looked for, empty where there are none. */
export function usePlan(attention: Attention, source: PlanSource): string | null {
  const ownPlan = text(attention.input.plan);
  const { id, sessionId, toolUseId } = attention;
  const { value: page, failure } = useRequest(
    ownPlan === null ? (signal) => source.conversation(sessionId, null, FAR_ENOUGH, signal) : null,
    [source, id, sessionId],
  );
  const inMessages = useMemo(
    () => page && (findPlan(page.messages, toolUseId) ?? ''),
    [page, toolUseId],
  );
  return ownPlan ?? inMessages ?? (failure && '');
}

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
