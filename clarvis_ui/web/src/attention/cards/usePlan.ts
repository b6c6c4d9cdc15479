import { useEffect, useState } from 'preact/hooks';
import type { Attention } from '../../api/attention';
import type { Api } from '../../api/client';
import { text } from '../../api/decode';
import { planIn } from './plan';

/** Where plans are looked for, where the question does not have its own. */
export type PlanSource = Pick<Api, 'conversation'>;

const FAR_ENOUGH = 60;

/** The words of the plan; null while they are being looked for, empty where there are none. */
export function usePlan(attention: Attention, source: PlanSource): string | null {
  const given = text(attention.input.plan);
  const [found, setFound] = useState<string | null>(null);

  useEffect(() => {
    if (given !== null) return;
    const gone = new AbortController();
    void source.conversation(attention.sessionId, null, FAR_ENOUGH, gone.signal).then((outcome) => {
      if (gone.signal.aborted) return;
      setFound((outcome.ok && planIn(outcome.value.messages, attention.toolUseId)) || '');
    });
    return () => gone.abort();
  }, [attention.id, attention.sessionId, attention.toolUseId, given, source]);

  return given ?? found;
}
