import type { Session } from '../api/sessions';
import { branchesHref, timelineHref } from '../app/routes';
import type { AppStore } from '../app/store';
import { GiveUpButton } from '../resume/GiveUpButton';
import { Dialog } from '../ui/Dialog';
import { Icon } from '../ui/Icon';
import { ExportButton } from './ExportButton';
import { SessionDetails } from './SessionDetails';
import { SystemPrompt } from './settings/SystemPrompt';
import './details-dialog.css';

export interface DetailsDialogProps {
  session: Session;
  app: AppStore;
  onClose(): void;
}

/** All that is known of a session, over the conversation. */
export function DetailsDialog({ session, app, onClose }: DetailsDialogProps) {
  const usable = session.state !== 'error';
  return (
    <Dialog name="Details" kind="details-dialog" onClose={onClose}>
      <SessionDetails session={session}>
        {usable && (
          <SystemPrompt
            session={session}
            api={app.api}
            drafts={app.drafts}
            onSession={app.sessions.update}
          />
        )}
      </SessionDetails>
      <div class="details-deeds">
        {usable && <ExportButton session={session} api={app.api} />}
        {(session.state === 'idle' || session.givenUp !== null) && (
          <GiveUpButton session={session} api={app.api} onChanged={app.sessions.update} />
        )}
      </div>
      {/* where the header has no room for these */}
      <nav class="details-ways" aria-label="More of this session">
        <a href={timelineHref({ session: session.id })}>
          <Icon name="timeline" /> Timeline
        </a>
        {usable && (
          <a href={branchesHref(session.id)}>
            <Icon name="branch" /> Branches
          </a>
        )}
      </nav>
    </Dialog>
  );
}
