import type { Fit, Routed } from '../api/routing';
import { modeLabel } from '../session/settings/modeLabels';
import { useThreadContext } from './context';

/** Why the keeper routed a message to this session. */
export function RoutingReason({ uuid }: { uuid: string }) {
  const { routed, expandState, hold, sessionId } = useThreadContext();
  const why = routed.value.get(uuid);
  const open = expandState.signalOf(`${uuid}/why`);
  if (!why) return null;
  return (
    <div class="you-note you-why">
      <p>
        {why.leftPlanFor && `Left plan mode, now “${modeLabel(why.leftPlanFor)}”. `}
        {reasonWords(why)}
      </p>
      <button
        type="button"
        class="quiet"
        aria-expanded={open.value}
        onClick={() => {
          hold();
          open.value = !open.value;
        }}
      >
        Why it is here
      </button>
      {open.value && <Scores why={why} sessionId={sessionId} />}
    </div>
  );
}

function reasonWords({ routing, followed }: Routed): string {
  if (!followed) return 'You chose this session.';
  return routing.action === 'resume' ? 'Sent on to this session.' : 'Began this session.';
}

function Scores({ why, sessionId }: { why: Routed; sessionId: string }) {
  const { routing, followed } = why;
  const { action, reason, candidates, confidence = 0, scorer } = routing;
  const would =
    action === 'resume' ? `resume “${routing.title ?? 'a session'}”` : 'begin a new one';
  return (
    <div class="you-scores">
      {!followed && <p dir="auto">The keeper would have chosen to {would}.</p>}
      {reason && <p dir="auto">{reason}</p>}
      <p>
        {Math.round(confidence * 100)} % sure, by the{' '}
        {scorer === 'plain' ? 'plain rule' : 'improved scorer'}
      </p>
      {candidates.length > 0 && (
        <ol aria-label="What each session scored">
          {candidates.map((fit) => (
            <li key={fit.sessionId}>
              <span class="you-score">{fit.score.toFixed(2)}</span>{' '}
              <bdi>{nameOf(fit, sessionId)}</bdi>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}

function nameOf({ sessionId, title }: Fit, here: string): string {
  return sessionId === here ? 'This session' : (title ?? 'Untitled session');
}
