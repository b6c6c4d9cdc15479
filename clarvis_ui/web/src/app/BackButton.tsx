import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { Icon } from '../ui/Icon';
import { INBOX_HREF, LIST_HREF } from './routes';
import './page-head.css';

/** How many questions wait that are not shown anyway; the shell knows. */
export const WaitingElsewhereContext = createContext(0);

export interface BackButtonProps {
  href?: string;
  label?: string;
}

/**
 * The way back where a phone shows one thing at a time. The list, which says what waits, is out of
 * sight then: what waits is said here, and one tap away.
 */
export function BackButton({ href = LIST_HREF, label = 'Sessions' }: BackButtonProps) {
  return (
    <>
      <a class="session-back" href={href} aria-label={label}>
        <Icon name="back" />
      </a>
      <WaitingLink />
    </>
  );
}

export function WaitingLink() {
  const waiting = useContext(WaitingElsewhereContext);
  if (waiting === 0) return null;
  return (
    <a class="waiting-elsewhere" href={INBOX_HREF} aria-label={waitingCountWords(waiting)}>
      <span>{waiting}</span>
    </a>
  );
}

export function waitingCountWords(waiting: number): string {
  return `${waiting} waiting for you`;
}
