import { waitingCountWords } from '../app/BackButton';
import { INBOX_HREF } from '../app/routes';
import { Icon } from '../ui/Icon';

/** How much waits, always in the same place. */
export function InboxLink({ waiting, current }: { waiting: number; current: boolean }) {
  const words = waiting > 0 ? waitingCountWords(waiting) : 'Nothing waits for you';
  return (
    <a
      class="inbox-link"
      href={INBOX_HREF}
      data-waiting={waiting > 0}
      aria-keyshortcuts="i"
      aria-current={current ? 'page' : undefined}
    >
      {words}
      <Icon name="unfold" size={14} />
    </a>
  );
}
