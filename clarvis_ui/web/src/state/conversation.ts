import type { Message } from '../transport/messages';

export type { Block, Message, Partial, Turn, TurnStatus, Usage } from '../transport/messages';

/** A message as it is shown: one of our own stands there before the keeper has confirmed it. */
export type ShownMessage = Message & {
  optimistic?: 'sending' | 'failed';
  /** Why it could not be sent. */
  problem?: string;
  onRetry?: () => void;
};
