import type { Session } from '../api/sessions';
import { sessionHref } from '../app/routes';
import { counted, fullTime, money, relativeTime } from '../lib/format';
import { projectOf } from '../sessions/groupByProject';
import {
  farWords,
  type LiveState,
  progressWords,
  statusOf,
  summaryOf,
  titleOf,
} from '../sessions/labels';
import { sinceWords } from '../sessions/presenceLabels';
import { StatusDot } from '../ui/StatusDot';
import { ROW_HEIGHT } from './listLayout';

export interface SessionRowProps {
  session: Session;
  live: LiveState;
  now: number;
  selected: boolean;
  showProject: boolean;
  tabStop: boolean;
  onFocus(id: string): void;
  onRename(id: string): void;
}

/** A link, as its address is all that is needed to come back to it. */
export function SessionRow({
  session,
  live,
  now,
  selected,
  showProject,
  tabStop,
  onFocus,
  onRename,
}: SessionRowProps) {
  const status = statusOf(session, live);
  const silent = status.tone === 'quiet' || status.tone === 'unread';
  return (
    <a
      class="row"
      href={sessionHref(session.id)}
      data-session={session.id}
      data-tone={status.tone}
      data-over={session.givenUp === null ? undefined : 'given-up'}
      aria-current={selected ? 'true' : undefined}
      aria-keyshortcuts="F2"
      tabIndex={tabStop ? 0 : -1}
      style={{ height: `${ROW_HEIGHT}px` }}
      onFocus={() => onFocus(session.id)}
      onDblClick={() => onRename(session.id)}
      title={tooltipOf(session)}
    >
      <StatusDot tone={status.tone} elsewhere={status.elsewhere} />
      <span class="row-title" dir="auto">
        {titleOf(session)}
      </span>
      <time class="row-time" dateTime={session.modified ?? undefined}>
        {relativeTime(session.modified, now)}
      </time>
      <span class="row-words" data-tone={status.tone} dir="auto">
        {status.tone === 'unread' && <span class="spoken">{status.words}: </span>}
        {silent ? summaryOf(session) : status.words + sinceWords(status.since ?? null, now)}
      </span>
      <RowEnd session={session} showProject={showProject} />
    </a>
  );
}

/** How far it is, and its project where no heading says it. */
function RowEnd({ session, showProject }: { session: Session; showProject: boolean }) {
  const far = farWords(session);
  if (far === null && !showProject) return null;
  return (
    <span class="row-end">
      {far !== null && <span class="row-far">{far}</span>}
      {showProject && <bdi class="row-project">{projectOf(session)}</bdi>}
    </span>
  );
}

/** What is worth knowing now and then, and not worth a line in every row. */
function tooltipOf(session: Session): string {
  const facts = [
    session.item && `item ${session.item.key}`,
    progressWords(session.progress),
    session.givenUp && `given up ${fullTime(session.givenUp)}`,
    session.workdir,
    session.gitBranch,
    session.messageCount === null ? null : counted(session.messageCount, 'message'),
    session.costUsd === null ? null : money(session.costUsd),
    fullTime(session.modified),
    session.archived && `deleted ${fullTime(session.archivedSince)}`,
  ].filter(Boolean);
  return `${titleOf(session)}\n${facts.join(' · ')}`;
}
