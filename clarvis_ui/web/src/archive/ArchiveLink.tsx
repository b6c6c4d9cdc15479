import type { Archive } from '../api/archive';
import { ARCHIVE_HREF } from '../app/routes';
import { counted } from '../lib/format';

export interface ArchiveLinkProps {
  archive: Archive | null;
  /** Deleted sessions that are in the list. */
  archived: number;
}

/** How many transcripts Claude Code will delete soon, or how many the archive holds. */
export function ArchiveLink({ archive, archived }: ArchiveLinkProps) {
  const due = archive?.due.length ?? 0;
  if (due === 0 && !archive?.on && archived === 0) return null;
  return (
    <a class="due-link" href={ARCHIVE_HREF} data-due={due > 0}>
      {due > 0 ? `${counted(due, 'session')} will be deleted soon` : 'Archive'}
    </a>
  );
}
