import type { Block, Message } from '../api/messages';

export const OPTIMISTIC_STATES = ['sending', 'accepted', 'failed', 'elsewhere'] as const;

/** A message of this browser that no transcript has yet. Its uuid is final. */
export interface OptimisticMessage {
  uuid: string;
  text: string;
  /** As it goes over the wire, images included. */
  content: readonly Block[];
  images: number;
  /** Stops the running turn. */
  interrupt?: boolean;
  /** `accepted`: the keeper has it; it is not part of the conversation yet. `elsewhere`: somebody
   * else runs the session, and the person has to say what is to become of it. */
  state: (typeof OPTIMISTIC_STATES)[number];
  problem: string | null;
  /** The time of the newest message when it was sent, by the keeper's clock: a copy is newer. */
  behind: string | null;
  /** When it was sent, by this browser's clock: for their order after a refresh. */
  begun: number;
}

/** The same uuid again is a second attempt, in the same place. */
export function withOptimistic(
  optimistic: readonly OptimisticMessage[],
  pending: OptimisticMessage,
): OptimisticMessage[] {
  const index = optimistic.findIndex((other) => other.uuid === pending.uuid);
  return index < 0 ? [...optimistic, pending] : optimistic.toSpliced(index, 1, pending);
}

export function withoutOptimistic(
  optimistic: readonly OptimisticMessage[],
  uuid: string,
): readonly OptimisticMessage[] {
  const others = optimistic.filter((pending) => pending.uuid !== uuid);
  return others.length === optimistic.length ? optimistic : others;
}

/**
 * Those that the conversation does not have yet. A message with our uuid is ours; where Claude Code
 * gave a prompt a uuid of its own, the one with the same words that came after ours is.
 */
export function unconfirmed(
  optimistic: readonly OptimisticMessage[],
  messages: readonly Message[],
  own: readonly string[],
): readonly OptimisticMessage[] {
  const ours = new Set(own);
  const confirmed = new Set<string>();
  const copies: Message[] = [];
  const oldest = optimistic.reduce<string | null>(
    (least, { behind }) => (least === null || behind === null || behind < least ? behind : least),
    optimistic[0]?.behind ?? null,
  );
  for (const message of messages) {
    if (ours.has(message.uuid)) confirmed.add(message.uuid);
    else if (isTyped(message) && isNewer(message, oldest)) copies.push(message);
  }
  return optimistic.filter((pending) => {
    if (confirmed.has(pending.uuid)) return false;
    // only an accepted message can have got another uuid
    if (pending.state !== 'accepted') return true;
    const copy = copies.findIndex(
      (message) => isNewer(message, pending.behind) && textOf(message.content) === pending.text,
    );
    if (copy < 0) return true;
    copies.splice(copy, 1); // each copy confirms one message
    return false;
  });
}

export function isTyped(message: Message): boolean {
  return (
    message.role === 'user' &&
    (message.kind === 'prompt' || message.kind === 'command') &&
    message.agentId === null &&
    message.parentToolUseId === null
  );
}

function isNewer(message: Message, time: string | null): boolean {
  return time === null || message.timestamp === null || message.timestamp > time;
}

export function textOf(content: readonly Block[]): string {
  return content
    .map((block) => (block.type === 'text' && typeof block.text === 'string' ? block.text : ''))
    .join('')
    .trim();
}
