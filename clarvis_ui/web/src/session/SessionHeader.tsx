import type { Outcome } from '../api/result';
import type { Session } from '../api/sessions';
import { BackButton } from '../app/BackButton';
import { branchesHref, timelineHref } from '../app/routes';
import { fullTime, money, roughly } from '../lib/format';
import { statusOf } from '../sessions/labels';
import { sinceWords } from '../sessions/presenceLabels';
import { Icon } from '../ui/Icon';
import { StatusDot } from '../ui/StatusDot';
import { useNow } from '../ui/useNow';
import type { ContextUse } from './contextUsage';
import { EditableTitle } from './EditableTitle';
import { ForkOf, type ForkOrigin } from './ForkOf';
import { type ModelAndModeProps, ModelSelect, ModeSelect } from './settings/ModelAndMode';
import '../app/page-head.css';

export interface SessionHeaderProps extends ModelAndModeProps {
  session: Session;
  context: ContextUse | null;
  forkOrigin: ForkOrigin | null;
  onRename(name: string | null): Promise<Outcome<Session>>;
  onDetails(): void;
}

/** Which session this is, how it runs, and what it has used. */
export function SessionHeader(props: SessionHeaderProps) {
  const { session, context, forkOrigin, onRename, onDetails } = props;
  const status = statusOf(session);
  const now = useNow(20_000);
  return (
    <header class="session-head">
      <BackButton />
      <div class="session-name">
        <EditableTitle session={session} onRename={onRename} />
        <p class="session-meta">
          {status.tone !== 'quiet' && status.tone !== 'unread' && (
            <span class="session-status" title={fullTime(status.since ?? null) || undefined}>
              <StatusDot tone={status.tone} elsewhere={status.elsewhere} />
              <b data-tone={status.tone}>
                {status.words}
                {sinceWords(status.since ?? null, now)}
              </b>
            </span>
          )}
          {forkOrigin && <ForkOf {...forkOrigin} />}
          {session.project !== null && <bdi>{session.project}</bdi>}
          {session.gitBranch !== null && <bdi class="session-branch">{session.gitBranch}</bdi>}
        </p>
      </div>
      {session.state !== 'error' && (
        <div class="session-switches">
          <ModelSelect {...props} />
          <ModeSelect {...props} />
        </div>
      )}
      {context && <Gauge context={context} />}
      {session.costUsd !== null && session.costUsd > 0 && (
        <span class="session-cost" title="Cost so far">
          {money(session.costUsd)}
        </span>
      )}
      <a
        class="session-timeline"
        href={timelineHref({ session: session.id })}
        aria-label="Timeline"
        title="Timeline"
      >
        <Icon name="timeline" />
      </a>
      {session.state !== 'error' && (
        <a
          class="session-more session-branches"
          href={branchesHref(session.id)}
          aria-label="Branches"
          title="Branches"
        >
          <Icon name="branch" />
        </a>
      )}
      <button
        type="button"
        class="quiet session-more"
        aria-label="Details"
        title="Details"
        onClick={onDetails}
      >
        <Icon name="info" />
      </button>
    </header>
  );
}

function Gauge({ context: { tokens, window, percent } }: { context: ContextUse }) {
  const words = `${roughly(tokens)} of ${roughly(window)} tokens of context used`;
  return (
    <span class="gauge" title={words}>
      <span class="spoken">{words}</span>
      <span class="gauge-bar" aria-hidden="true">
        <span style={{ transform: `scaleX(${percent / 100})` }} />
      </span>
      <span aria-hidden="true">{percent} %</span>
    </span>
  );
}
