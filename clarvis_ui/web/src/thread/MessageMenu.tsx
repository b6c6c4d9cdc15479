import { useEffect, useRef, useState } from 'preact/hooks';
import { isUnwritten } from '../conversation/failedTurns';
import { copyText } from '../lib/clipboard';
import { fullTime } from '../lib/format';
import { Icon } from '../ui/Icon';
import { useThreadContext } from './context';
import { messageLink } from './messageLink';
import './menu.css';

export interface MessageMenuProps {
  uuid: string;
  timestamp: string | null;
  text: string;
}

/** What can be done with any message: copy it, link to it, go on from it in another session. */
export function MessageMenu(message: MessageMenuProps) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const notice = useNotice();
  useDismissal(box, open, () => setOpen(false));
  // no transcript has it: no link would lead here, and no fork could begin here
  if (isUnwritten(message.uuid)) return null;
  return (
    <div class="menu" ref={box} data-open={open}>
      <button
        type="button"
        class="quiet menu-button"
        aria-label="What to do with this message"
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <Icon name="more" />
      </button>
      <span class="spoken" role="status">
        {notice.words}
      </span>
      {open && (
        <Items
          {...message}
          onDone={(words) => {
            setOpen(false);
            notice.say(words);
            box.current?.querySelector('button')?.focus();
          }}
        />
      )}
      {notice.words && (
        <span class="menu-said" aria-hidden="true">
          {notice.words}
        </span>
      )}
    </div>
  );
}

interface ItemsProps extends MessageMenuProps {
  onDone(words: string): void;
}

function Items({ uuid, timestamp, text, onDone }: ItemsProps) {
  const { sessionId, onFork, unforkable } = useThreadContext();
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.scrollIntoView({ block: 'nearest' });
    list.current?.querySelector('button')?.focus({ preventScroll: true });
  }, []);
  const copy = async (what: string) =>
    onDone((await copyText(what)) ? 'Copied' : 'Copying is not allowed here');
  const time = fullTime(timestamp);
  return (
    <div
      class="menu-items"
      role="menu"
      tabIndex={-1}
      ref={list}
      aria-label="Message"
      onKeyDown={(event) => walk(event, list.current, () => onDone(''))}
    >
      {time && <p class="menu-time">{time}</p>}
      <button type="button" role="menuitem" onClick={() => copy(text)}>
        <Icon name="copy" /> Copy text
      </button>
      <button
        type="button"
        role="menuitem"
        onClick={() => copy(messageLink(window.location, sessionId, uuid))}
      >
        <Icon name="link" /> Copy link
      </button>
      <button
        type="button"
        role="menuitem"
        disabled={unforkable !== null}
        onClick={() => {
          onDone('');
          onFork(uuid);
        }}
      >
        <Icon name="branch" /> Fork from here
      </button>
      {unforkable !== null && <p class="menu-time">{unforkable}</p>}
    </div>
  );
}

function walk(event: KeyboardEvent, list: HTMLElement | null, leave: () => void): void {
  if (event.key === 'Escape') {
    event.stopPropagation();
    leave();
    return;
  }
  const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
  const step = steps[event.key];
  if (step === undefined || !list) return;
  event.preventDefault();
  const items = [...list.querySelectorAll<HTMLButtonElement>('button:enabled')];
  const at = items.indexOf(document.activeElement as HTMLButtonElement);
  items[(at + step + items.length) % items.length]?.focus();
}

/** A short word that goes away by itself. */
function useNotice(): { words: string; say(words: string): void } {
  const [words, say] = useState('');
  useEffect(() => {
    if (!words) return;
    const timer = setTimeout(() => say(''), 2000);
    return () => clearTimeout(timer);
  }, [words]);
  return { words, say };
}

function useDismissal(
  box: { current: HTMLElement | null },
  open: boolean,
  dismiss: () => void,
): void {
  useEffect(() => {
    if (!open) return;
    const outside = (event: Event) => {
      if (event.target instanceof Node && !box.current?.contains(event.target)) dismiss();
    };
    document.addEventListener('pointerdown', outside);
    document.addEventListener('focusin', outside);
    return () => {
      document.removeEventListener('pointerdown', outside);
      document.removeEventListener('focusin', outside);
    };
  });
}
