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
  app: AppStore;
  router: Router;
  notifications: Notifications;
  commandSetup: CommandSetup;
}

/** The sidebar and the selected page; a phone shows one of the two. */
export function Shell({ app, router, notifications, commandSetup }: ShellProps) {
  const { sessions, attention: attentionStore, auth } = app;
  const inbox = attentionStore.inbox.value;
  const route = router.route.value;
  const selectedId = route.session;
  const openAttention = useMemo(() => openBySession(inbox), [inbox]);
  const newSession = useMemo(
    () => createNewSessionStore({ api: app.api, storage: app.storage, go: goToSession }),
    [app],
  );
  const near = workdirNear(selectedId, sessions);
  useEffect(() => commandSetup.command.suggest(near), [commandSetup, near]);
  // a conversation has its own questions below it, its branches have not
  const readId = route.branches === null ? selectedId : null;
  const waitingElsewhere = route.inbox
    ? 0
    : inbox.open.filter(({ sessionId }) => sessionId !== readId).length;
  const archived = useMemo(
    () => sessions.newestFirst.value.filter((session) => session.archived).length,
    [sessions.newestFirst.value],
  );
  const elsewhere =
    route.inbox || route.archive || route.usage || route.search !== null || route.timeline !== null;
  const showing = selectedId === null && !elsewhere ? 'list' : 'session';

  return (
    <div class="shell">
      <ConnectionBanner app={app} />
      <div class="panes" data-showing={showing}>
        <Sidebar
          listing={sessions.listing.value}
          newestFirst={sessions.newestFirst.value}
          selectedId={selectedId}
          storage={app.storage}
          openAttention={openAttention}
          doing={app.activity.texts.value}
          due={<ArchiveLink archive={app.archive.status.value} archived={archived} />}
          inbox={<InboxLink waiting={inbox.open.length} current={route.inbox} />}
          onNew={() => newSession.show(near)}
          onCommand={() => openBar(commandSetup)}
          onRename={sessions.rename}
          onLeave={auth.logOut}
        />
        <main class="main">
          <WaitingElsewhereContext.Provider value={waitingElsewhere}>
            <SelectedPage
              app={app}
              router={router}
              notifications={notifications}
              commandSetup={commandSetup}
              onFresh={newSession.showPreset}
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
      <CommandBar app={app} commandSetup={commandSetup} currentId={selectedId} />
      <NewSessionDialog
        newSession={newSession}
        sessions={sessions.newestFirst.value}
        api={app.api}
      />
    </div>
  );
}

function goToSession(id: string): void {
  location.hash = sessionHref(id);
}

/** The directory of the open session, or of the newest one. */
function workdirNear(id: string | null, { listing, newestFirst }: SessionStore): string | null {
  const open = id === null ? undefined : listing.value.sessions.get(id);
  return (open ?? newestFirst.value[0])?.workdir ?? null;
}
