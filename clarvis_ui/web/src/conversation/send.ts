import type { Api } from '../api/client';
import { KEEPER_BUSY, type Outcome } from '../api/result';
import type { Accepted, Prompt } from '../api/send';

/**
 * Sends a message, and stands in line where every place is taken. That somebody else runs the
 * session is answered at once: the person chooses what is to become of the message.
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
