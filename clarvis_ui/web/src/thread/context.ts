import type { ReadonlySignal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Routed } from '../api/routing';
import type { VisibleMessage } from '../conversation/conversation';
import type { ExpandState } from '../lib/expanded';

/** What nested rows need of the conversation. */
export interface ThreadContextValue {
  sessionId: string;
  workdir: string | null;
  expandState: ExpandState;
  /** Call before something expands, so that the view stays where it is. */
  hold(): void;
  /** Tool calls with an open question, by id. */
  waiting: ReadonlySignal<ReadonlySet<string>>;
  /** Tool calls whose question was open when their turn was interrupted. */
  unanswered: ReadonlySignal<ReadonlySet<string>>;
  routed: ReadonlySignal<ReadonlyMap<string, Routed>>;
  fetchSubagent(agentId: string): Promise<readonly VisibleMessage[]>;
  onFork(uuid: string): void;
  /** Why messages here cannot be forked from; null where they can. */
  unforkable: string | null;
  onRetry(uuid: string): void;
  onEdit(uuid: string): void;
  onOtherDirectory(uuid: string): void;
}

export const ThreadContext = createContext<ThreadContextValue | null>(null);

export function useThreadContext(): ThreadContextValue {
  const reader = useContext(ThreadContext);
  if (!reader) throw new Error('a row outside of a conversation');
  return reader;
}
