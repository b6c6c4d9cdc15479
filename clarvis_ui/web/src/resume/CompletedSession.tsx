import { useState } from 'preact/hooks';
import type { Api } from '../api/client';
import type { ResumeReport } from '../api/resume';
import type { Session } from '../api/sessions';
import { fullTime } from '../lib/format';
import { progressWords } from '../sessions/labels';
import { useRequest } from '../ui/useRequest';
import { SpecificationDialog } from './SpecificationDialog';
import './completed-session.css';

export interface CompletedSessionProps {
  api: Pick<Api, 'resume' | 'specification' | 'giveUp'>;
  session: Session;
  report: ResumeReport | null;
  onChanged(session: Session): void;
  /** Offers to begin something else in the same directory, if that is still there. */
  onNew(gone: boolean): void;
}

/** Of a session whose work is complete, or that was given up: that it is so, and ways on. */
export function CompletedSession({
  api,
  session,
  report: recapReport,
  onChanged,
  onNew,
}: CompletedSessionProps) {
  const { id, givenUp } = session;
  const report = useResumeReport(api, session, recapReport);
  const [reading, setReading] = useState(false);
  const [problem, setProblem] = useState('');
  const specification = report?.specification ?? null;

  async function takeBack(): Promise<void> {
    const outcome = await api.giveUp(id, false);
    setProblem(outcome.ok ? '' : outcome.failure.sentence);
    if (outcome.ok) onChanged(outcome.value);
  }

  if (givenUp === null && report?.outcome !== 'complete') return null;
  return (
    <section class="finished" aria-label="How it ended">
      <p>{givenUp === null ? completeWords(session) : givenUpWords(givenUp)}</p>
      {givenUp !== null && (
        <button type="button" onClick={() => void takeBack()}>
          Take it back
        </button>
      )}
      {specification !== null && (
        <button type="button" onClick={() => setReading(true)}>
          View the specification
        </button>
      )}
      <button type="button" onClick={() => onNew(report?.gone ?? false)}>
        Start new
      </button>
      <p class="finished-problem" role="alert">
        {problem}
      </p>
      {reading && <SpecificationDialog api={api} id={id} onClose={() => setReading(false)} />}
    </section>
  );
}

/** The recap's report where it loaded one. Otherwise it is loaded where the work may be complete. */
function useResumeReport(
  api: CompletedSessionProps['api'],
  session: Session,
  recapReport: ResumeReport | null,
) {
  const { id, progress, givenUp, modified } = session;
  // the recap's report holds until the session changes
  const [opened] = useState(modified);
  const loaded = modified === opened ? recapReport : null;
  const covered = progress?.of === 'checklist' && progress.complete;
  const wanted = loaded === null && (covered || givenUp !== null);
  const { value } = useRequest(wanted ? (signal) => api.resume(id, signal) : null, [
    api,
    id,
    modified,
  ]);
  return loaded ?? value;
}

function completeWords({ progress }: Session): string {
  const far = progressWords(progress);
  return far === null ? 'This session’s work is complete.' : `Complete: ${far}.`;
}

function givenUpWords(at: string): string {
  return `You gave this session up on ${fullTime(at)}.`;
}
