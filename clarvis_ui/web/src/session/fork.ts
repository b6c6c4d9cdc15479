import { sessionHref } from '../app/routes';
import type { AppStore } from '../app/store';

/** Forks the session at a message and opens the fork. Returns the problem, or ''. */
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
