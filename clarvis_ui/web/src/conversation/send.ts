import type { Api } from '../api/client';
import { KEEPER_BUSY, type Outcome } from '../api/result';
import type { Accepted, Prompt } from '../api/send';

/**
 * Sends a message. If the keeper runs as many sessions as it may, the request waits. If somebody
 * else runs the session, the answer comes at once: the person decides about the message.
 */
export async function sendOrWait(
  api: Pick<Api, 'send'>,
  prompt: Prompt,
  signal?: AbortSignal,
): Promise<Outcome<Accepted>> {
  const outcome = await api.send({ ...prompt, wait: false }, signal);
  const busy = !outcome.ok && outcome.failure.code === KEEPER_BUSY;
  return busy ? api.send({ ...prompt, wait: true }, signal) : outcome;
}
