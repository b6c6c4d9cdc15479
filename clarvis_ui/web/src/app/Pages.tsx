import type { ComponentType } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Notifications } from '../attention/notifications';
import type { CommandSetup } from '../command/setup';
import type { NewSessionPreset } from '../newSession/store';
import { lazy } from '../ui/lazy';
import { MissingSession, PageOutOfDate } from './EmptyStates';
import type { Router } from './router';
import type { AppStore } from './store';

export interface SelectedPageProps {
  app: AppStore;
  router: Router;
  notifications: Notifications;
  commandSetup: CommandSetup;
  /** Opens the dialog for a new session with this text. */
  onFresh(fresh: NewSessionPreset): void;
}

const page = <P extends object>(load: () => Promise<ComponentType<P>>) => lazy(load, PageOutOfDate);

// the list waits for none of these; the session's page is the largest part of all
const SessionPage = page(async () => (await import('../session/SessionPage')).SessionPage);
const CommandPanel = page(async () => (await import('../command/CommandViews')).CommandPanel);
const Inbox = page(async () => (await import('../attention/InboxPage')).InboxPage);
const SearchPage = page(async () => (await import('../search/SearchPage')).SearchPage);
const ArchivePage = page(async () => (await import('../archive/ArchivePage')).ArchivePage);
const TimelinePage = page(async () => (await import('../timeline/TimelinePage')).TimelinePage);
const BranchesPage = page(async () => (await import('../branches/BranchesPage')).BranchesPage);
const UsagePage = page(async () => (await import('../usage/UsagePage')).UsagePage);

/** Fetches the largest pages ahead, after the first view. */
export function prefetchPages(): void {
  for (const page of [SessionPage, CommandPanel]) page.fetch();
}

/** What is beside the list: a session, another page, or the command bar. */
export function SelectedPage({
  app,
  router,
  notifications,
  commandSetup,
  onFresh,
}: SelectedPageProps) {
  const { complete } = app.sessions.listing.value;
  const { session: id, branches, inbox, usage, search, timeline, archive } = router.route.value;
  // a request before the login would be refused, and its answer could come after the login
  if (app.auth.state.value !== 'loggedIn') return null;
  if (id !== null && branches !== null) {
    const compared = branches === 'tree' ? null : branches;
    return <BranchesPage key={id} app={app} id={id} compared={compared} />;
  }
  if (id !== null) return <SessionRoute key={id} app={app} id={id} onFresh={onFresh} />;
  if (inbox) return <Inbox app={app} notifications={notifications} />;
  if (usage) return <UsagePage app={app} />;
  if (search !== null) return <SearchPage app={app} wanted={search} />;
  if (timeline !== null) return <TimelinePage app={app} timeline={timeline} />;
  if (archive) return <ArchivePage app={app} />;
  // the command bar needs the complete list
  if (!complete) return null;
  return (
    <CommandPanel
      commandSetup={commandSetup}
      sessions={app.sessions.newestFirst.value}
      currentId={null}
      api={app.api}
    />
  );
}

interface OneSessionProps extends Pick<SelectedPageProps, 'app' | 'onFresh'> {
  id: string;
}

function SessionRoute({ app, id, onFresh }: OneSessionProps) {
  const conversationStore = useMemo(() => app.conversations.open(id), [app, id]);
  const { sessions, complete } = app.sessions.listing.value;
  const session = sessions.get(id);
  if (!session) return complete && conversationStore.failure.value ? <MissingSession /> : null;
  return (
    <SessionPage
      app={app}
      session={session}
      conversationStore={conversationStore}
      onFresh={onFresh}
    />
  );
}
