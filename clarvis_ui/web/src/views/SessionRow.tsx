import { sessionHref } from '../state/address';
import { statusOf, summaryOf, titleOf } from '../state/described';
import { ROW_HEIGHT } from '../state/layout';
import { counted, fileSize, fullTime, money, relativeTime } from '../state/words';
import type { Session } from '../transport/wire';
import { Icon } from '../ui/Icon';
import { StatusDot } from '../ui/StatusDot';

export interface SessionRowProps {
  session: Session;
  now: number;
  selected: boolean;
  /** The one row that Tab leads to. */
  tabStop: boolean;
  onFocus(id: string): void;
}

/** A link, as its address is all that is needed to come back to it. */
export function SessionRow({ session, now, selected, tabStop, onFocus }: SessionRowProps) {
  const status = statusOf(session);
  const summary = summaryOf(session);
  return (
    <a
      class="row"
      href={sessionHref(session.id)}
      data-session={session.id}
      data-tone={status.tone}
      aria-current={selected ? 'true' : undefined}
      tabIndex={tabStop ? 0 : -1}
      style={{ height: `${ROW_HEIGHT}px` }}
      onFocus={() => onFocus(session.id)}
    >
      <StatusDot tone={status.tone} />
      <span class="row-title" dir="auto">
        {titleOf(session)}
      </span>
      <time
        class="row-time"
        dateTime={session.modified ?? undefined}
        title={fullTime(session.modified)}
      >
        {relativeTime(session.modified, now)}
      </time>
      {status.tone === 'quiet' ? (
        <span class="row-summary" dir="auto">
          {summary}
        </span>
      ) : (
        <span class="row-summary">
          <b data-tone={status.tone}>{status.words}</b>
          {status.tone !== 'broken' && summary !== null && <bdi>{summary}</bdi>}
        </span>
      )}
      <span class="row-meta">
        {session.gitBranch !== null && (
          <span class="row-branch">
            <Icon name="branch" size={12} />
            <bdi>{session.gitBranch}</bdi>
          </span>
        )}
        {status.tone !== 'broken' && <span>{messagesOf(session)}</span>}
        {session.size !== null && session.size > 0 && (
          <span class="row-size">{fileSize(session.size)}</span>
        )}
        {session.costUsd !== null && <span>{money(session.costUsd)}</span>}
      </span>
    </a>
  );
}

function messagesOf(session: Session): string {
  return session.messageCount === null ? 'counting…' : counted(session.messageCount, 'message');
}
