import { messageHref, sessionHref } from '../app/routes';
import type { AppStore } from '../app/store';
import { titleOf } from '../sessions/labels';
import { useRequest } from '../ui/useRequest';

export interface ForkOrigin {
  session: string;
  title: string;
  at: string | null;
}

export function ForkOf({ session, title, at }: ForkOrigin) {
  return (
    <a
      class="session-fork"
      href={at === null ? sessionHref(session) : messageHref(session, at)}
      title={`Fork of ${title}`}
    >
      Fork of <bdi>{title}</bdi>
    </a>
  );
}

/** Null until it is known, and for a session that is no fork of one that can be seen. */
export function useForkOf({ api, sessions }: AppStore, id: string): ForkOrigin | null {
  const { value: family } = useRequest((signal) => api.family(id, signal), [api, id]);
  const find = (wanted: string | null) =>
    family?.sessions.find(({ sessionId }) => sessionId === wanted);
  const fork = find(id);
  const parent = find(fork?.parent ?? null);
  if (!fork || !parent) return null;
  const listed = sessions.listing.value.sessions.get(parent.sessionId);
  const title = listed
    ? titleOf(listed)
    : (parent.title ?? parent.firstPrompt ?? 'another session');
  return { session: parent.sessionId, title, at: fork.at };
}
