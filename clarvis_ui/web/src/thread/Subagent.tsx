import { useEffect, useMemo, useState } from 'preact/hooks';
import { useExpandState } from '../content/expandState';
import { ShowMore } from '../content/ShowMore';
import { ToolBody } from '../content/tools/ToolBody';
import type { VisibleMessage } from '../conversation/conversation';
import { counted } from '../lib/format';
import { ThreadContext, useThreadContext } from './context';
import { RowView } from './RowView';
import { chunksOf } from './rows/chunks';
import { callOf, type ToolRow } from './rows/rows';
import { agentIdOf, EARLIER, ownRows, SHOWN_AT_FIRST } from './rows/subagents';

/** The conversation of a subagent inside its call, running or finished. */
export function Subagent({ row }: { row: ToolRow }) {
  const { fetchSubagent, workdir } = useThreadContext();
  const live = row.nested.length > 0;
  const agentId = agentIdOf(row);
  const [past, setPast] = useState<readonly VisibleMessage[] | null>(null);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    if (live || row.running) return;
    let wanted = true;
    setFailed(false);
    fetchSubagent(agentId).then(
      (messages) => wanted && setPast(messages),
      () => wanted && setFailed(true),
    );
    return () => {
      wanted = false;
    };
  }, [live, agentId, row.running, fetchSubagent]);

  if (live) return <Apart messages={row.nested} running={row.running} />;
  if (past) return <Apart messages={past} running={false} />;
  // its prompt and its result are in the call itself
  if (failed || row.running) return <ToolBody call={callOf(row)} workdir={workdir} />;
  return <p class="quiet-line">Reading its conversation…</p>;
}

const UNFORKABLE = 'What a subagent said has no place in the conversation to go on from.';

/** A transcript of its own: nothing in it can be forked from. */
function Apart(props: NestedProps) {
  const reader = useThreadContext();
  const apart = useMemo(() => ({ ...reader, unforkable: UNFORKABLE }), [reader]);
  return (
    <ThreadContext.Provider value={apart}>
      <NestedRows {...props} />
    </ThreadContext.Provider>
  );
}

interface NestedProps {
  messages: readonly VisibleMessage[];
  running: boolean;
}

export function NestedRows({ messages, running }: NestedProps) {
  const all = useExpandState()(EARLIER);
  const rows = useMemo(
    () => chunksOf(ownRows(messages, running)).flatMap((chunk) => chunk.rows),
    [messages, running],
  );
  if (rows.length === 0) return <p class="quiet-line">It said nothing.</p>;
  const visible = all.value ? rows : rows.slice(-SHOWN_AT_FIRST);
  return (
    <section class="nested" aria-label="Conversation of the agent">
      {visible.length < rows.length && (
        <ShowMore fold={all}>Show {counted(rows.length - visible.length, 'earlier line')}</ShowMore>
      )}
      {visible.map((placed) => (
        <RowView key={placed.row.key} placed={placed} />
      ))}
    </section>
  );
}
