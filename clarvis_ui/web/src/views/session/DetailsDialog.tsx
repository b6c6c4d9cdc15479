import { branchesHref, timelineHref } from '../../state/address';
import type { Api } from '../../transport/api';
import type { Session } from '../../transport/wire';
import { Dialog } from '../../ui/Dialog';
import { Icon } from '../../ui/Icon';
import { Details } from '../Details';
import { SaveButton } from './SaveButton';
import './details-dialog.css';

export interface DetailsDialogProps {
  session: Session;
  api: Api;
  onClose(): void;
}

/** All that is known of a session, over the conversation. */
export function DetailsDialog({ session, api, onClose }: DetailsDialogProps) {
  return (
    <Dialog name="Details" kind="details-dialog" onClose={onClose}>
      <Details session={session} />
      {session.state !== 'error' && <SaveButton session={session} api={api} />}
      {/* where the header has no room for these */}
      <nav class="details-ways" aria-label="More of this session">
        <a href={timelineHref({ session: session.id })}>
          <Icon name="timeline" /> Timeline
        </a>
        {session.state !== 'error' && (
          <a href={branchesHref(session.id)}>
            <Icon name="branch" /> Branches
          </a>
        )}
      </nav>
    </Dialog>
  );
}
