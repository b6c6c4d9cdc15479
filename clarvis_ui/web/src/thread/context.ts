import type { ReadonlySignal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Routed } from '../api/routing';
import type { VisibleMessage } from '../conversation/conversation';
import type { ExpandState } from '../lib/expanded';

/** What the rows of a conversation need of the whole, however deep they are nested. */
export interface ThreadContextValue {
  sessionId: string;
  workdir: string | null;
  expandState: ExpandState;
  /** Call before something unfolds: the view then stays where it is. */
  hold(): void;
  /** Calls that wait for an answer, by their ids. */
  waiting: ReadonlySignal<ReadonlySet<string>>;
  /** Those that waited when their turn was cut off. */
  unanswered: ReadonlySignal<ReadonlySet<string>>;
  /** Why messages are here that the keeper found a place for, by uuid. */
  routed: ReadonlySignal<ReadonlyMap<string, Routed>>;
  fetchSubagent(agentId: string): Promise<readonly VisibleMessage[]>;
  onFork(uuid: string): void;
  /** Why no message here can be forked from; null where every one can. */
  unforkable: string | null;
  /** A message of ours that was not sent: once more, or back into the field. */
  onRetry(uuid: string): void;
  onEdit(uuid: string): void;
  /** The same words in a session of another directory. */
  onOtherDirectory(uuid: string): void;
}

export const ThreadContext = createContext<ThreadContextValue | null>(null);

export function useThreadContext(): ThreadContextValue {
  const reader = useContext(ThreadContext);
  if (!reader) throw new Error('a row outside of a conversation');
  return reader;
}
