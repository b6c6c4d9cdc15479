import { useEffect, useMemo, useState } from 'preact/hooks';
import type { VisibleMessage } from '../../conversation/conversation';
import type { Row } from '../rows/rows';
import { agentIdOf, callsIn, isUnread } from '../rows/subagents';
import { messagesTextOf, type SubagentTexts } from './find';

/** How many are loaded at once. */
const TOGETHER = 4;
/** Letters of theirs that a page holds for finding; more than that is a matter for the search. */
const MAX_CHARACTERS = 30_000_000;

const NOTHING: readonly VisibleMessage[] = [];

/** Messages of collapsed subagents: read while a person searches, newest first. */
export function useSubagentTexts(
  rows: readonly Row[],
  store: boolean,
  fetchSubagent: (agentId: string) => Promise<readonly VisibleMessage[]>,
): { texts: SubagentTexts; reading: boolean; cut: boolean } {
  const [texts, setHeard] = useState<SubagentTexts>(new Map());
  const unread = useMemo(
    () =>
      store
        ? rows.flatMap(callsIn).filter((call) => isUnread(call) && !texts.has(call.use.id))
        : [],
    [store, rows, texts],
  );
  const letters = useMemo(
    () => [...texts.values()].reduce((sum, messages) => sum + messagesTextOf(messages).length, 0),
    [texts],
  );
  const cut = letters > MAX_CHARACTERS && unread.length > 0;
  const reading = unread.length > 0 && !cut;
  const next = reading ? unread.slice(-TOGETHER) : [];
  const names = next.map(({ use }) => use.id).join(' ');

  useEffect(() => {
    if (names === '') return;
    let wanted = true;
    const requests = next.map(async (call) => {
      // what cannot be read has no words
      const messages = await fetchSubagent(agentIdOf(call)).catch(() => NOTHING);
      return [call.use.id, messages] as const;
    });
    void Promise.all(requests).then((read) => {
      if (wanted) setHeard((before) => new Map([...before, ...read]));
    });
    return () => {
      wanted = false;
    };
  }, [names, fetchSubagent]);

  return { texts, reading, cut };
}
