import { useEffect, useMemo } from 'preact/hooks';
import { DueLink } from '../archive/ArchiveLink';
import { InboxLink } from '../attention/InboxLink';
import { openBySession } from '../attention/inbox';
import type { Notifications } from '../attention/notifications';
import { CommandBar, openBar } from '../command/CommandBar';
import type { Commanding } from '../command/setup';
import { NewSession } from '../newSession/NewSessionDialog';
import { createBeginning } from '../newSession/store';
import type { SessionStore } from '../sessions/store';
import { Sidebar } from '../sidebar/Sidebar';
import { Icon } from '../ui/Icon';
import { WaitingElsewhere, waitingWords } from './BackButton';
import { Reachability } from './ConnectionBanner';
import { Selected } from './Pages';
import type { Place } from './router';
import { LIST_HREF, sessionHref } from './routes';
import type { Clarvis } from './store';
import './shell.css';

export interface ShellProps {
  clarvis: Clarvis;
  place: Place;
  notifications: Notifications;
  commanding: Commanding;
}

/** The sidebar and what is selected in it; on a phone one of the two at a time. */
export function Shell({ clarvis, place, notifications, commanding }: ShellProps) {
  const { sessions, questions, door } = clarvis;
  const inbox = questions.inbox.value;
  const selectedId = place.session.value;
  const asked = useMemo(() => openBySession(inbox), [inbox]);
  const beginning = useMemo(
    () => createBeginning({ api: clarvis.api, memory: clarvis.memory, go: goToSession }),
    [clarvis],
  );
  const near = workdirNear(selectedId, sessions);
  useEffect(() => commanding.command.suggest(near), [commanding, near]);
  // a conversation has its own questions below it, its branches have not
  const readId = place.branches.value === null ? selectedId : null;
  const waitingElsewhere = place.inbox.value
    ? 0
    : inbox.open.filter(({ sessionId }) => sessionId !== readId).length;
  const archived = useMemo(
    () => sessions.newestFirst.value.filter((session) => session.archived).length,
    [sessions.newestFirst.value],
  );
  const elsewhere =
    place.inbox.value ||
    place.archive.value ||
    place.usage.value ||
    place.search.value !== null ||
    place.timeline.value !== null;
  const showing = selectedId === null && !elsewhere ? 'list' : 'session';

  return (
    <div class="shell">
      <Reachability clarvis={clarvis} />
      <div class="panes" data-showing={showing}>
        <Sidebar
          listing={sessions.listing.value}
          newestFirst={sessions.newestFirst.value}
          selectedId={selectedId}
          memory={clarvis.memory}
          asked={asked}
          doing={clarvis.activity.texts.value}
          due={<DueLink archive={clarvis.kept.archive.value} archived={archived} />}
          inbox={<InboxLink waiting={inbox.open.length} current={place.inbox.value} />}
          onNew={() => beginning.show(near)}
          onCommand={() => openBar(commanding)}
          onRename={sessions.rename}
          onLeave={door.leave}
        />
        <main class="main">
          <WaitingElsewhere.Provider value={waitingElsewhere}>
            <Selected
              clarvis={clarvis}
              place={place}
              notifications={notifications}
              commanding={commanding}
              onFresh={beginning.offer}
            />
          </WaitingElsewhere.Provider>
          <a class="back" href={LIST_HREF}>
            <Icon name="back" />
            Sessions
          </a>
        </main>
      </div>
      {/* beside the panes: on a phone the one that is out of sight says nothing */}
      <p class="spoken" aria-live="polite">
        {inbox.open.length > 0 ? waitingWords(inbox.open.length) : ''}
      </p>
      <CommandBar clarvis={clarvis} commanding={commanding} currentId={selectedId} />
      <NewSession beginning={beginning} sessions={sessions.newestFirst.value} api={clarvis.api} />
    </div>
  );
}

function goToSession(id: string): void {
  location.hash = sessionHref(id);
}

/** Where a new session most likely belongs: beside the one that is open, or the newest. */
function workdirNear(id: string | null, { listing, newestFirst }: SessionStore): string | null {
  const open = id === null ? undefined : listing.value.sessions.get(id);
  return (open ?? newestFirst.value[0])?.workdir ?? null;
}
