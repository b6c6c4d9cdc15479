import { signal } from '@preact/signals';
import { useMemo, useState } from 'preact/hooks';
import type { Message } from '../api/messages';
import type { Routed } from '../api/routing';
import type { AppStore } from '../app/store';
import { createExpandState } from '../lib/expanded';
import { forkAndOpen } from '../session/fork';
import { ThreadContext, type ThreadContextValue } from '../thread/context';
import { RowView } from '../thread/RowView';
import { chunksOf } from '../thread/rows/chunks';
import { rowsOf } from '../thread/rows/rows';
import '../thread/thread.css';

export interface BranchMessagesProps {
  app: AppStore;
  sessionId: string;
  messages: readonly Message[];
}

const NOBODY = signal<ReadonlySet<string>>(new Set());

const NONE_ROUTED = signal<ReadonlyMap<string, Routed>>(new Map());

/** Some messages of a conversation, to be read; nothing waits in them. */
export function BranchMessages({ app, sessionId, messages }: BranchMessagesProps) {
  const [problem, setProblem] = useState('');
  const workdir = app.sessions.listing.value.sessions.get(sessionId)?.workdir ?? null;
  const reader = useMemo<ThreadContextValue>(
    () => ({
      sessionId,
      workdir,
      expandState: createExpandState(),
      hold: () => {},
      waiting: NOBODY,
      unanswered: NOBODY,
      routed: NONE_ROUTED,
      async fetchSubagent(agentId) {
        const outcome = await app.api.subagent(sessionId, agentId);
        if (outcome.ok) return outcome.value;
        throw new Error(outcome.failure.sentence);
      },
      onFork: (uuid) => void forkAndOpen(app, sessionId, uuid).then(setProblem),
      unforkable: null,
      onRetry: () => {},
      onEdit: () => {},
      onOtherDirectory: () => {},
    }),
    [app, sessionId, workdir],
  );
  const rows = useMemo(() => {
    // here they are the conversation, whether it was left or not
    const own = messages.map((message) => ({ ...message, branch: null }));
    return chunksOf(rowsOf(own, { running: false, hasOlder: true })).flatMap((each) => each.rows);
  }, [messages]);
  return (
    <ThreadContext.Provider value={reader}>
      <div class="passage">
        {rows.map((placed) => (
          <RowView key={placed.row.key} placed={placed} />
        ))}
      </div>
      <p class="branches-problem" role="alert">
        {problem}
      </p>
    </ThreadContext.Provider>
  );
}
