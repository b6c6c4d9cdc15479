import { LIST_HREF } from '../state/address';
import type { Door } from '../state/door';
import type { Place } from '../state/place';
import type { SessionStore } from '../state/sessions';
import { Banner } from '../ui/Banner';
import { Icon } from '../ui/Icon';
import { Details } from './Details';
import { MissingSession, NothingSelected } from './NothingSelected';
import { Sidebar } from './Sidebar';
import './shell.css';

export interface ShellProps {
  door: Door;
  place: Place;
  sessions: SessionStore;
}

/** The sidebar and what is selected in it; on a phone one of the two at a time. */
export function Shell({ door, place, sessions }: ShellProps) {
  const listing = sessions.listing.value;
  const selectedId = place.session.value;

  return (
    <div class="shell">
      {listing.trouble && <Banner failure={listing.trouble} onRetry={sessions.refreshNow} />}
      <div class="panes" data-showing={selectedId === null ? 'list' : 'session'}>
        <Sidebar
          listing={listing}
          newestFirst={sessions.newestFirst.value}
          selectedId={selectedId}
          onRename={sessions.rename}
          onLeave={door.leave}
        />
        <main class="main">
          <a class="back" href={LIST_HREF}>
            <Icon name="back" />
            Sessions
          </a>
          <Selected sessions={sessions} selectedId={selectedId} />
        </main>
      </div>
    </div>
  );
}

function Selected({
  sessions,
  selectedId,
}: Pick<ShellProps, 'sessions'> & { selectedId: string | null }) {
  const { sessions: known, complete } = sessions.listing.value;
  const session = selectedId === null ? undefined : known.get(selectedId);
  if (session) return <Details key={session.id} session={session} onRename={sessions.rename} />;
  if (!complete) return null; // too early to say that it is missing, or that there is none
  if (selectedId !== null) return <MissingSession />;
  return known.size > 0 ? <NothingSelected /> : null; // the list itself says what to do first
}
