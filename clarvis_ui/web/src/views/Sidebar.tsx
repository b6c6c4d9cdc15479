import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { sessionHref } from '../state/address';
import { isScanning, type Listing } from '../state/listing';
import { byProject, matching } from '../state/projects';
import { count, counted } from '../state/words';
import type { Session } from '../transport/wire';
import { Icon } from '../ui/Icon';
import { Mark } from '../ui/Mark';
import { EmptyList } from './EmptyList';
import { FilterField } from './FilterField';
import { ScanProgress } from './ScanProgress';
import { type ListHandle, SessionList } from './SessionList';
import './sidebar.css';

export interface SidebarProps {
  listing: Listing;
  newestFirst: readonly Session[];
  selectedId: string | null;
  onLeave(): void;
}

export function Sidebar({ listing, newestFirst, selectedId, onLeave }: SidebarProps) {
  const query = useSignal('');
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<ListHandle>(null);
  const found = useMemo(() => matching(newestFirst, query.value), [newestFirst, query.value]);
  const projects = useMemo(() => byProject(found), [found]);
  const first = projects[0]?.sessions[0];

  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      const typing = event.target instanceof HTMLInputElement;
      if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      field.current?.focus();
    }
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);

  return (
    <nav class="sidebar" aria-label="Sessions">
      <div class="sidebar-top">
        <Mark />
        <b>Clarvis</b>
        <button type="button" class="quiet" onClick={onLeave}>
          <Icon name="leave" />
          Log out
        </button>
      </div>
      <FilterField
        query={query.value}
        field={field}
        onQuery={(next) => {
          query.value = next;
        }}
        onDown={() => list.current?.focusFirst()}
        onEnter={() => {
          if (first && query.value !== '') location.hash = sessionHref(first.id);
        }}
      />
      <p class="tally" role="status">
        {tally(listing, found.length, projects.length, query.value)}
      </p>
      {listing.scan && isScanning(listing.scan) && <ScanProgress scan={listing.scan} />}
      {found.length > 0 ? (
        <SessionList
          projects={projects}
          query={query.value}
          selectedId={selectedId}
          handle={list}
        />
      ) : (
        <EmptyList listing={listing} query={query.value} />
      )}
    </nav>
  );
}

function tally(listing: Listing, found: number, projects: number, query: string): string {
  const all = listing.sessions.size;
  if (all === 0) return '';
  if (query.trim() !== '') return `${count(found)} of ${counted(all, 'session')}`;
  if (!listing.complete) return `${counted(all, 'session')} so far…`;
  return `${counted(all, 'session')} in ${counted(projects, 'project')}`;
}
