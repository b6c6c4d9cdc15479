import type { Session } from '../api/sessions';
import type { OptimisticMessage } from '../conversation/optimistic';
import { statusOf } from '../sessions/labels';
import { sinceWords, whereWords } from '../sessions/presenceLabels';
import { StatusDot } from '../ui/StatusDot';
import { useNow } from '../ui/useNow';

export interface RunsElsewhereProps {
  session: Session;
  optimistic: readonly OptimisticMessage[];
  /** The last hook notification from there. */
  notice: string | null;
  onFork(uuid: string): void;
  onWait(uuid: string): void;
  /** Puts the text back into the field. */
  onWatch(uuid: string): void;
  onSend(uuid: string): void;
}

/** Somebody else runs this session: what happens with messages that were not sent. */
export function RunsElsewhere(props: RunsElsewhereProps) {
  const { session, optimistic, notice } = props;
  const where = whereWords(session);
  const now = useNow(20_000);
  if (where === null && optimistic.length === 0) return null;
  return (
    <section class="elsewhere" aria-label="Runs elsewhere">
      {where !== null && (
        <p class="elsewhere-line" role="status">
          <StatusDot tone={statusOf(session).tone} elsewhere />
          <span>
            {whatHappens(session, where)}
            {session.origin !== 'gateway' && sinceWords(session.presence?.since ?? null, now)}.
            {notice !== null && (
              <>
                {' '}
                It says: <q dir="auto">{notice}</q>
              </>
            )}
          </span>
        </p>
      )}
      {optimistic.map((pending) => (
        <Choices key={pending.uuid} {...props} pending={pending} where={where} />
      ))}
    </section>
  );
}

function whatHappens(session: Session, where: string): string {
  if (session.origin === 'gateway')
    return `Resumed ${where}: this turn is finished here, then it goes on there`;
  return `Runs ${statusOf(session).words}`;
}

type ChoicesProps = RunsElsewhereProps & { pending: OptimisticMessage; where: string | null };

function Choices({ pending, where, onFork, onWait, onWatch, onSend }: ChoicesProps) {
  const { uuid, text } = pending;
  return (
    <div class="elsewhere-choices" data-uuid={uuid}>
      <p>
        <b>Not sent:</b> <bdi>{text}</bdi>
      </p>
      <p class="elsewhere-why">
        {where === null
          ? 'It no longer runs elsewhere.'
          : `Two writers would tear the conversation apart while it runs ${where}.`}
      </p>
      <div class="elsewhere-buttons">
        {where === null ? (
          <button type="button" class="strong" onClick={() => onSend(uuid)}>
            Send it now
          </button>
        ) : (
          <>
            <button type="button" class="strong" onClick={() => onFork(uuid)}>
              Go on in a copy
            </button>
            <button type="button" onClick={() => onWait(uuid)}>
              Send when it has ended
            </button>
          </>
        )}
        <button type="button" class="quiet" onClick={() => onWatch(uuid)}>
          {where === null ? 'Edit' : 'Only watch'}
        </button>
      </div>
    </div>
  );
}
