import { sessionHref } from '../app/routes';
import type { AppStore } from '../app/store';

/** Goes on from a message in a session of its own, and there; says why where that cannot be. */
export async function forkAndOpen(
  app: AppStore,
  session: string,
  message: string,
  draft = '',
): Promise<string> {
  const outcome = await app.api.fork(session, message);
  if (!outcome.ok) return outcome.failure.sentence;
  app.sessions.update(outcome.value);
  if (draft !== '') app.drafts.write(outcome.value.id, { text: draft, images: [] });
  location.hash = sessionHref(outcome.value.id);
  return '';
}
