import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Outcome } from '../api/result';
import type { Session } from '../api/sessions';
import { INBOX_HREF, searchHref, sessionHref, USAGE_HREF } from '../app/routes';
import { ShortcutsDialog } from '../app/ShortcutsDialog';
import { count, counted } from '../lib/format';
import type { BrowserStorage } from '../lib/storage';
import { persistedSignal } from '../lib/storage';
import { groupByProject, matching } from '../sessions/groupByProject';
import { groupByTime } from '../sessions/groupByTime';
import type { AskedAttention, LiveState } from '../sessions/labels';
import { isScanning, type Listing } from '../sessions/list';
import { createUnread, type Unread } from '../sessions/unread';
import { Icon } from '../ui/Icon';
import { Logo } from '../ui/Logo';
import { useNow } from '../ui/useNow';
import { EmptyList } from './EmptyList';
import { FilterField } from './FilterField';
import { ScanProgress } from './ScanProgress';
import { type ListHandle, SessionList } from './SessionList';
import './sidebar.css';

export interface SidebarProps {
  listing: Listing;
  newestFirst: readonly Session[];
  selectedId: string | null;
  storage: BrowserStorage;
  /** Open questions by session. */
  openAttention?: ReadonlyMap<string, readonly AskedAttention[]>;
  /** What sessions do just now, in words. */
  doing?: ReadonlyMap<string, string>;
  /** Above the list: what waits for the person. */
  inbox?: ComponentChildren;
  /** Below the list: what is about to be deleted. */
  due?: ComponentChildren;
  onNew?(): void;
  /** Opens the command bar. */
  onCommand?(): void;
  onRename(id: string, name: string | null): Promise<Outcome<Session>>;
  onLeave(): void;
}

const ORDERS = ['project', 'recent'] as const;
type Order = (typeof ORDERS)[number];

const NO_QUESTIONS: readonly AskedAttention[] = [];

export function Sidebar(props: SidebarProps) {
  const { listing, newestFirst, selectedId, storage, onNew, onRename, onLeave } = props;
  const query = useSignal('');
  const order = useMemo(() => persistedSignal(storage, 'order', ORDERS), [storage]);
  const now = useNow(20_000);
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<ListHandle>(null);
  const matches = useMemo(() => matching(newestFirst, query.value), [newestFirst, query.value]);
  const sections = useSections(matches, order.value, now);
  const selected = selectedId === null ? undefined : listing.sessions.get(selectedId);
  const unread = useUnread(storage, selected);
  const first = sections[0]?.sessions[0];

  const keys = useSignal(false);
  const showKeys = () => {
    keys.value = true;
  };

  useKeys({ '/': () => field.current?.focus(), n: onNew, i: goToInbox, '?': showKeys });

  const liveOf = (session: Session): LiveState => ({
    attention: props.openAttention?.get(session.id) ?? NO_QUESTIONS,
    doing: props.doing?.get(session.id) ?? null,
    unread: session.id !== selectedId && unread.isUnread(session),
  });

  return (
    <nav class="sidebar" aria-label="Sessions">
      <div class="sidebar-top">
        <Logo />
        <b>Clarvis</b>
        {onNew && (
          <button type="button" class="quiet" onClick={onNew} aria-keyshortcuts="n">
            <Icon name="plus" />
            New
          </button>
        )}
      </div>
      {props.onCommand && (
        <button
          type="button"
          class="command-button"
          aria-keyshortcuts="Control+K Meta+K"
          onClick={props.onCommand}
        >
          Say what you want… <kbd>Ctrl K</kbd>
        </button>
      )}
      <FilterField
        query={query.value}
        field={field}
        onQuery={(next) => {
          query.value = next;
        }}
        onDown={() => list.current?.focusFirst()}
        onEnter={() => {
          if (!first || query.value === '') return;
          location.hash = sessionHref(first.id);
          // what is pressed next is meant for the conversation
          field.current?.blur();
        }}
      />
      <a class="inbox-link" href={searchHref({ words: query.value })}>
        {query.value.trim() === '' ? 'Search all messages' : `Search for “${query.value.trim()}”`}
        <Icon name="search" size={14} />
      </a>
      {props.inbox}
      <OrderSwitch order={order} />
      {matches.length > 0 ? (
        <SessionList
          sections={sections}
          query={query.value}
          order={order.value}
          selectedId={selectedId}
          showProject={order.value === 'recent'}
          now={now}
          liveOf={liveOf}
          onRename={onRename}
          handle={list}
        />
      ) : (
        <EmptyList listing={listing} query={query.value} />
      )}
      {listing.scan && isScanning(listing.scan) && <ScanProgress scan={listing.scan} />}
      <div class="sidebar-foot">
        <p class="tally" role="status">
          {tally(listing, matches.length, query.value)}
        </p>
        {props.due}
        <a class="due-link" href={USAGE_HREF}>
          Usage
        </a>
        <button
          type="button"
          class="quiet keys-button"
          aria-label="Keys"
          title="Keys"
          aria-keyshortcuts="?"
          onClick={showKeys}
        >
          <kbd>?</kbd>
        </button>
        <button type="button" class="quiet" onClick={onLeave}>
          <Icon name="leave" />
          Log out
        </button>
      </div>
      {keys.value && (
        <ShortcutsDialog
          onClose={() => {
            keys.value = false;
          }}
        />
      )}
    </nav>
  );
}

function goToInbox(): void {
  location.hash = INBOX_HREF;
}

/** Headings of time change at midnight, and so not with every tick of the clock. */
function useSections(sessions: readonly Session[], order: Order, now: number) {
  const day = new Date(now).setHours(0, 0, 0, 0);
  return useMemo(
    () => (order === 'recent' ? groupByTime(sessions, day) : groupByProject(sessions)),
    [sessions, order, day],
  );
}

/** What was read in which session; the open one counts as read while the page is visible. */
function useUnread(storage: BrowserStorage, open: Session | undefined): Unread {
  const unread = useMemo(() => createUnread(storage), [storage]);

  useEffect(() => {
    const seeOpen = () => {
      if (open && document.visibilityState === 'visible') unread.see(open);
    };
    seeOpen();
    document.addEventListener('visibilitychange', seeOpen);
    // another tab wrote something down
    window.addEventListener('storage', unread.readAgain);
    return () => {
      document.removeEventListener('visibilitychange', seeOpen);
      window.removeEventListener('storage', unread.readAgain);
    };
  }, [open, unread]);

  return unread;
}

/** Single keys, except while typing. */
function useKeys(acts: Readonly<Record<string, (() => void) | undefined>>): void {
  const latest = useRef(acts);
  latest.current = acts;
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      const act = Object.hasOwn(latest.current, event.key) ? latest.current[event.key] : undefined;
      if (!act || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const at = event.target;
      // one that was just closed keeps the focus until the next frame
      if (at instanceof HTMLElement && at.closest('input, textarea, select, dialog[open]')) return;
      event.preventDefault();
      act();
    }
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}

const ORDER_WORDS: Readonly<Record<Order, string>> = { project: 'By project', recent: 'Recent' };

function OrderSwitch({ order }: { order: Signal<Order> }) {
  return (
    <fieldset class="order">
      <legend class="spoken">Order of the list</legend>
      {ORDERS.map((one) => (
        <button
          key={one}
          type="button"
          class="quiet"
          aria-pressed={order.value === one}
          onClick={() => {
            order.value = one;
          }}
        >
          {ORDER_WORDS[one]}
        </button>
      ))}
    </fieldset>
  );
}

function tally(listing: Listing, matches: number, query: string): string {
  const all = listing.sessions.size;
  if (all === 0) return '';
  if (query.trim() !== '') return `${count(matches)} of ${counted(all, 'session')}`;
  return listing.complete ? counted(all, 'session') : `${counted(all, 'session')} so far…`;
}
