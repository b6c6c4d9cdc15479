import { useEffect, useState } from 'preact/hooks';
import { messageHref, sessionHref } from '../app/routes';
import type { Clarvis } from '../app/store';
import { titleOf } from '../sessions/labels';

/** The session that another one is a fork of, and the last message that both have. */
export interface Origin {
  session: string;
  title: string;
  at: string | null;
}

export function ForkOf({ session, title, at }: Origin) {
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
export function useForkOf({ api, sessions }: Clarvis, id: string): Origin | null {
  const [origin, setOrigin] = useState<Origin | null>(null);
  useEffect(() => {
    const leaving = new AbortController();
    setOrigin(null);
    void api.family(id, leaving.signal).then((outcome) => {
      if (!outcome.ok || leaving.signal.aborted) return;
      const find = (wanted: string | null) =>
        outcome.value.sessions.find(({ sessionId }) => sessionId === wanted);
      const mine = find(id);
      const parent = find(mine?.parent ?? null);
      if (!mine || !parent) return;
      const title = parent.title ?? parent.firstPrompt ?? 'another session';
      setOrigin({ session: parent.sessionId, title, at: mine.at });
    });
    return () => leaving.abort();
  }, [api, id]);
  const known = origin && sessions.listing.value.sessions.get(origin.session);
  return known ? { ...origin, title: titleOf(known) } : origin;
}
