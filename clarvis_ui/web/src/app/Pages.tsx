import { useMemo } from 'preact/hooks';
import type { Wanted } from '../api/search';
import type { Looked } from '../api/timeline';
import type { Notifications } from '../attention/notifications';
import { loadBar } from '../command/CommandBar';
import type { Commanding } from '../command/setup';
import type { Fresh } from '../newSession/store';
import { useModule } from '../ui/useLazy';
import { MissingSession, PageOutOfDate } from './EmptyStates';
import type { Place } from './router';
import type { Address } from './routes';
import type { Clarvis } from './store';

export interface SelectedProps {
  clarvis: Clarvis;
  place: Place;
  notifications: Notifications;
  commanding: Commanding;
  /** Offers to begin anew, with words to go with it. */
  onFresh(fresh: Fresh): void;
}

// what shows conversations is most of the page: the list does not wait for it
const loadSession = () => import('../session/SessionPage');
const loadInbox = () => import('../attention/InboxPage');
const loadSearch = () => import('../search/SearchPage');
const loadArchive = () => import('../archive/ArchivePage');
const loadTimeline = () => import('../timeline/TimelinePage');
const loadBranches = () => import('../branches/BranchesPage');
const loadUsage = () => import('../usage/UsagePage');

/** Fetches the larger parts ahead, once the first view stands. */
export function fetchAhead(): void {
  for (const load of [loadSession, loadBar]) void load().catch(() => {}); // who needs it tries again
}

/** What is beside the list: a session, what waits, or nothing yet. */
export function Selected({ clarvis, place, notifications, commanding, onFresh }: SelectedProps) {
  const { complete } = clarvis.sessions.listing.value;
  const id = place.session.value;
  // asked before one is let in, the answer "not logged in" would come after one is
  if (clarvis.door.state.value !== 'open') return null;
  const branches = place.branches.value;
  if (id !== null && branches !== null) {
    return <WhatIf key={id} clarvis={clarvis} id={id} branches={branches} />;
  }
  if (id !== null) return <OneSession key={id} clarvis={clarvis} id={id} onFresh={onFresh} />;
  if (place.inbox.value) return <WhatWaits clarvis={clarvis} notifications={notifications} />;
  if (place.usage.value) return <WhatWasUsed clarvis={clarvis} />;
  const wanted = place.search.value;
  if (wanted !== null) return <WhatWasSaid clarvis={clarvis} wanted={wanted} />;
  const looked = place.timeline.value;
  if (looked !== null) return <WhatWasDone clarvis={clarvis} looked={looked} />;
  if (place.archive.value) return <WhatIsKept clarvis={clarvis} />;
  // before the list stands, nobody knows what could be gone on with
  return complete ? <NothingYet clarvis={clarvis} commanding={commanding} /> : null;
}

interface OneSessionProps extends Pick<SelectedProps, 'clarvis' | 'onFresh'> {
  id: string;
}

function OneSession({ clarvis, id, onFresh }: OneSessionProps) {
  const talk = useMemo(() => clarvis.conversations.open(id), [clarvis, id]);
  const loaded = useModule(loadSession);
  const { sessions, complete } = clarvis.sessions.listing.value;
  const session = sessions.get(id);
  if (!session) return complete && talk.trouble.value ? <MissingSession /> : null;
  if (loaded === null) return null;
  if ('failed' in loaded) return <PageOutOfDate />;
  const { SessionPage } = loaded.module;
  return <SessionPage clarvis={clarvis} session={session} talk={talk} onFresh={onFresh} />;
}

/** Nothing is open: one says what one wants. */
function NothingYet({ clarvis, commanding }: Pick<SelectedProps, 'clarvis' | 'commanding'>) {
  const loaded = useModule(loadBar);
  if (loaded === null) return null;
  if ('failed' in loaded) return <PageOutOfDate />;
  const { CommandPanel } = loaded.module;
  return (
    <CommandPanel
      commanding={commanding}
      sessions={clarvis.sessions.newestFirst.value}
      currentId={null}
      api={clarvis.api}
    />
  );
}

function WhatWaits({ clarvis, notifications }: Pick<SelectedProps, 'clarvis' | 'notifications'>) {
  const loaded = useModule(loadInbox);
  if (loaded === null) return null;
  if ('failed' in loaded) return <PageOutOfDate />;
  const { Inbox } = loaded.module;
  return <Inbox clarvis={clarvis} notifications={notifications} />;
}

function WhatWasSaid({ clarvis, wanted }: { clarvis: Clarvis; wanted: Wanted }) {
  const loaded = useModule(loadSearch);
  if (loaded === null) return null;
  if ('failed' in loaded) return <PageOutOfDate />;
  const { SearchPage } = loaded.module;
  return <SearchPage clarvis={clarvis} wanted={wanted} />;
}

function WhatWasDone({ clarvis, looked }: { clarvis: Clarvis; looked: Looked }) {
  const loaded = useModule(loadTimeline);
  if (loaded === null) return null;
  if ('failed' in loaded) return <PageOutOfDate />;
  const { TimelinePage } = loaded.module;
  return <TimelinePage clarvis={clarvis} looked={looked} />;
}

function WhatIsKept({ clarvis }: { clarvis: Clarvis }) {
  const loaded = useModule(loadArchive);
  if (loaded === null) return null;
  if ('failed' in loaded) return <PageOutOfDate />;
  const { ArchivePage } = loaded.module;
  return <ArchivePage clarvis={clarvis} />;
}

interface WhatIfProps {
  clarvis: Clarvis;
  id: string;
  branches: NonNullable<Address['branches']>;
}

function WhatIf({ clarvis, id, branches }: WhatIfProps) {
  const loaded = useModule(loadBranches);
  if (loaded === null) return null;
  if ('failed' in loaded) return <PageOutOfDate />;
  const { BranchesPage } = loaded.module;
  const compared = branches === 'tree' ? null : branches;
  return <BranchesPage clarvis={clarvis} id={id} compared={compared} />;
}

function WhatWasUsed({ clarvis }: { clarvis: Clarvis }) {
  const loaded = useModule(loadUsage);
  if (loaded === null) return null;
  if ('failed' in loaded) return <PageOutOfDate />;
  const { UsagePage } = loaded.module;
  return <UsagePage clarvis={clarvis} />;
}
