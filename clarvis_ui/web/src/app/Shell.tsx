import { useEffect, useMemo } from 'preact/hooks';
import { ArchiveLink } from '../archive/ArchiveLink';
import { InboxLink } from '../attention/InboxLink';
import { openBySession } from '../attention/inbox';
import type { Notifications } from '../attention/notifications';
import { CommandBar, openBar } from '../command/CommandBar';
import type { CommandSetup } from '../command/setup';
import { NewSessionDialog } from '../newSession/NewSessionDialog';
import { createNewSessionStore } from '../newSession/store';
import type { SessionStore } from '../sessions/store';
import { Sidebar } from '../sidebar/Sidebar';
import { Icon } from '../ui/Icon';
import { WaitingElsewhereContext, waitingCountWords } from './BackButton';
import { ConnectionBanner } from './ConnectionBanner';
import { SelectedPage } from './Pages';
import type { Router } from './router';
import { LIST_HREF, sessionHref } from './routes';
import type { AppStore } from './store';
import './shell.css';

export interface ShellProps {
  clarvis: AppStore;
  router: Router;
  notifications: Notifications;
  commanding: CommandSetup;
}

/** The sidebar and what is selected in it; on a phone one of the two at a time. */
export function Shell({ clarvis, router, notifications, commanding }: ShellProps) {
  const { sessions, attention: questions, auth: door } = clarvis;
  const inbox = questions.inbox.value;
  const selectedId = router.session.value;
  const openAttention = useMemo(() => openBySession(inbox), [inbox]);
  const beginning = useMemo(
    () => createNewSessionStore({ api: clarvis.api, memory: clarvis.storage, go: goToSession }),
    [clarvis],
  );
  const near = workdirNear(selectedId, sessions);
  useEffect(() => commanding.command.suggest(near), [commanding, near]);
  // a conversation has its own questions below it, its branches have not
  const readId = router.branches.value === null ? selectedId : null;
  const waitingElsewhere = router.inbox.value
    ? 0
    : inbox.open.filter(({ sessionId }) => sessionId !== readId).length;
  const archived = useMemo(
    () => sessions.newestFirst.value.filter((session) => session.archived).length,
    [sessions.newestFirst.value],
  );
  const elsewhere =
    router.inbox.value ||
    router.archive.value ||
    router.usage.value ||
    router.search.value !== null ||
    router.timeline.value !== null;
  const showing = selectedId === null && !elsewhere ? 'list' : 'session';

  return (
    <div class="shell">
      <ConnectionBanner clarvis={clarvis} />
      <div class="panes" data-showing={showing}>
        <Sidebar
          listing={sessions.listing.value}
          newestFirst={sessions.newestFirst.value}
          selectedId={selectedId}
          memory={clarvis.storage}
          openAttention={openAttention}
          doing={clarvis.activity.texts.value}
          due={<ArchiveLink archive={clarvis.archive.status.value} archived={archived} />}
          inbox={<InboxLink waiting={inbox.open.length} current={router.inbox.value} />}
          onNew={() => beginning.show(near)}
          onCommand={() => openBar(commanding)}
          onRename={sessions.rename}
          onLeave={door.logOut}
        />
        <main class="main">
          <WaitingElsewhereContext.Provider value={waitingElsewhere}>
            <SelectedPage
              clarvis={clarvis}
              router={router}
              notifications={notifications}
              commanding={commanding}
              onFresh={beginning.offer}
            />
          </WaitingElsewhereContext.Provider>
          <a class="back" href={LIST_HREF}>
            <Icon name="back" />
            Sessions
          </a>
        </main>
      </div>
      {/* beside the panes: on a phone the one that is out of sight says nothing */}
      <p class="spoken" aria-live="polite">
        {inbox.open.length > 0 ? waitingCountWords(inbox.open.length) : ''}
      </p>
      <CommandBar clarvis={clarvis} commanding={commanding} currentId={selectedId} />
      <NewSessionDialog
        beginning={beginning}
        sessions={sessions.newestFirst.value}
        api={clarvis.api}
      />
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
