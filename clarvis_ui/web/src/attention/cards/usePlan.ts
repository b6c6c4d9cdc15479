import { useMemo } from 'preact/hooks';
import type { Attention } from '../../api/attention';
import type { Api } from '../../api/client';
import { text } from '../../api/decode';
import { useRequest } from '../../ui/useRequest';
import { findPlan } from './plan';

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
