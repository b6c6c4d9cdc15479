import { useLayoutEffect, useRef } from 'preact/hooks';
import { branchesHref, timelineHref } from '../../state/address';
import type { Session } from '../../transport/wire';
import { Icon } from '../../ui/Icon';
import { Details } from '../Details';
import './details-dialog.css';

/** All that is known of a session, over the conversation. */
export function DetailsDialog({ session, onClose }: { session: Session; onClose(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    dialog.current?.showModal();
  }, []);

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Esc closes a dialog by itself
    <dialog
      ref={dialog}
      class="details-dialog"
      aria-label="Details"
      onClose={onClose}
      onClick={(event) => {
        if (event.target === dialog.current) dialog.current?.close();
      }}
    >
      <div class="details-inner">
        <button
          type="button"
          class="quiet details-close"
          aria-label="Close"
          onClick={() => dialog.current?.close()}
        >
          <Icon name="clear" />
        </button>
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
      </div>
    </dialog>
  );
}
