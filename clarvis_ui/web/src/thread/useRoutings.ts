import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Api } from '../api/client';
import type { Routed } from '../api/routing';
import type { VisibleMessage } from '../conversation/conversation';
import { useAbortableEffect } from '../ui/useRequest';

/** The routing decisions of a session's messages, by uuid; read again with every prompt. */
export function useRoutings(
  api: Pick<Api, 'routings'>,
  id: string,
  messages: readonly VisibleMessage[],
): ReadonlySignal<ReadonlyMap<string, Routed>> {
  const routed = useSignal<ReadonlyMap<string, Routed>>(NONE);
  // a message that is still on its way was not taken yet
  const last = messages.findLast(
    ({ kind, optimistic }) => kind === 'prompt' && optimistic === undefined,
  )?.uuid;

  useEffect(() => {
    routed.value = NONE;
  }, [id, routed]);

  useAbortableEffect(
    async (signal) => {
      if (last === undefined) return;
      const outcome = await api.routings(id, signal);
      if (signal.aborted || !outcome.ok) return;
      if (outcome.value.length === 0 && routed.value.size === 0) return;
      routed.value = new Map(outcome.value.map((one) => [one.uuid, one]));
    },
    [api, id, last, routed],
  );

  return routed;
}

const NONE: ReadonlyMap<string, Routed> = new Map();
