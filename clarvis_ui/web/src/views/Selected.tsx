import { useMemo } from 'preact/hooks';
import type { Clarvis } from '../state/clarvis';
import type { Notifications } from '../state/notifications';
import type { Place } from '../state/place';
import { useModule } from '../ui/useModule';
import { MissingSession, NothingSelected, PageOutOfDate } from './NothingSelected';

export interface SelectedProps {
  clarvis: Clarvis;
  place: Place;
  notifications: Notifications;
}

// what shows conversations is most of the page: the list does not wait for it
const loadSession = () => import('./session/SessionPage');
const loadInbox = () => import('./Inbox');

/** Fetches the larger parts ahead, once the first view stands. */
export function fetchAhead(): void {
  void loadSession().catch(() => {}); // whoever needs it tries again, and says so
}

/** What is beside the list: a session, what waits, or nothing yet. */
export function Selected({ clarvis, place, notifications }: SelectedProps) {
  const { sessions, complete } = clarvis.sessions.listing.value;
  const id = place.session.value;
  // asked before one is let in, the answer "not logged in" would come after one is
  if (clarvis.door.state.value !== 'open') return null;
  if (id !== null) return <OneSession key={id} clarvis={clarvis} id={id} />;
  if (place.inbox.value) return <WhatWaits clarvis={clarvis} notifications={notifications} />;
  // too early to say that there is none; and then the list itself says what to do first
  return complete && sessions.size > 0 ? <NothingSelected /> : null;
}

function OneSession({ clarvis, id }: { clarvis: Clarvis; id: string }) {
  const talk = useMemo(() => clarvis.conversations.open(id), [clarvis, id]);
  const loaded = useModule(loadSession);
  const { sessions, complete } = clarvis.sessions.listing.value;
  const session = sessions.get(id);
  if (!session) return complete && talk.trouble.value ? <MissingSession /> : null;
  if (loaded === null) return null;
  if ('failed' in loaded) return <PageOutOfDate />;
  const { SessionPage } = loaded.module;
  return <SessionPage clarvis={clarvis} session={session} talk={talk} />;
}

function WhatWaits({ clarvis, notifications }: Omit<SelectedProps, 'place'>) {
  const loaded = useModule(loadInbox);
  if (loaded === null) return null;
  if ('failed' in loaded) return <PageOutOfDate />;
  const { Inbox } = loaded.module;
  return <Inbox clarvis={clarvis} notifications={notifications} />;
}
