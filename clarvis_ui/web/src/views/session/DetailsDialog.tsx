import { branchesHref, timelineHref } from '../../state/address';
import type { Session } from '../../transport/wire';
import { Dialog } from '../../ui/Dialog';
import { Icon } from '../../ui/Icon';
import { Details } from '../Details';
import './details-dialog.css';

/** All that is known of a session, over the conversation. */
export function DetailsDialog({ session, onClose }: { session: Session; onClose(): void }) {
  return (
    <Dialog name="Details" kind="details-dialog" onClose={onClose}>
      <Details session={session} />
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
