import { useMemo } from 'preact/hooks';
import type { Activity } from '../state/activity';
import { LIST_HREF } from '../state/address';
import type { Clarvis } from '../state/clarvis';
import { openBySession } from '../state/inbox';
import type { Notifications } from '../state/notifications';
import type { Place } from '../state/place';
import { Icon } from '../ui/Icon';
import { InboxLink } from './InboxLink';
import { Reachability } from './Reachability';
import { Selected } from './Selected';
import { Sidebar } from './Sidebar';
import './shell.css';

export interface ShellProps {
  clarvis: Clarvis;
  place: Place;
  activity: Activity;
  notifications: Notifications;
}

/** The sidebar and what is selected in it; on a phone one of the two at a time. */
export function Shell({ clarvis, place, activity, notifications }: ShellProps) {
  const { sessions, questions, door } = clarvis;
  const inbox = questions.inbox.value;
  const selectedId = place.session.value;
  const asked = useMemo(() => openBySession(inbox), [inbox]);
  const showing = selectedId === null && !place.inbox.value ? 'list' : 'session';

  return (
    <div class="shell">
      <Reachability clarvis={clarvis} />
      <div class="panes" data-showing={showing}>
        <Sidebar
          listing={sessions.listing.value}
          newestFirst={sessions.newestFirst.value}
          selectedId={selectedId}
          asked={asked}
          doing={activity.doing.value}
          inbox={<InboxLink waiting={inbox.open.length} current={place.inbox.value} />}
          onRename={sessions.rename}
          onLeave={door.leave}
        />
        <main class="main">
          <Selected clarvis={clarvis} place={place} notifications={notifications} />
          <a class="back" href={LIST_HREF}>
            <Icon name="back" />
            Sessions
          </a>
        </main>
      </div>
    </div>
  );
}
