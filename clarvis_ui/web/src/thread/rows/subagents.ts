import type { VisibleMessage } from '../../conversation/conversation';
import { type Row, rowsOf, type ToolRow } from './rows';

/** Subagents: which calls are theirs, and their conversations as rows. */

const AGENTS = new Set(['Task', 'Agent']);

/** How many of its last rows are shown at first. */
export const SHOWN_AT_FIRST = 40;
/** The part that unfolds into them. */
export const EARLIER = 'earlier';

export function isSubagent(row: ToolRow): boolean {
  return AGENTS.has(row.use.name) || row.nested.length > 0;
}

/** The agent's own id, where the result tells it; else the call's, which the keeper knows too. */
export function agentIdOf({ nested, result, use }: ToolRow): string {
  return (
    nested.find((message) => message.agentId)?.agentId ??
    /\bagentId: ([\w-]+)/.exec(result?.text ?? '')?.[1] ??
    use.id
  );
}

/** Inside its own conversation a message of the subagent is an ordinary one. */
export function ownRows(messages: readonly VisibleMessage[], running: boolean): Row[] {
  const own = messages.map((message) => ({ ...message, parentToolUseId: null, branch: null }));
  return rowsOf(own, { running, hasOlder: false });
}

export function callsIn(row: Row): readonly ToolRow[] {
  if (row.kind === 'tool') return [row];
  return row.kind === 'tools' ? row.calls : [];
}

/** Whether the subagent's messages are still to be loaded. */
export function isUnread(row: ToolRow): boolean {
  return isSubagent(row) && row.nested.length === 0 && !row.running;
}
