import { INBOX_HREF } from '../state/address';
import { Icon } from '../ui/Icon';

/** How much waits, always in the same place. */
export function InboxLink({ waiting, current }: { waiting: number; current: boolean }) {
  return (
    <a
      class="inbox-link"
      href={INBOX_HREF}
      data-waiting={waiting > 0}
      aria-current={current ? 'page' : undefined}
    >
      <span role="status">
        {waiting > 0 ? `${waiting} waiting for you` : 'Nothing waits for you'}
      </span>
      <Icon name="unfold" size={14} />
    </a>
  );
}
