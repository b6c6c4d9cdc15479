import { useState } from 'preact/hooks';
import type { Api } from '../api/client';
import type { Session } from '../api/sessions';
import { fullTime } from '../lib/format';

export interface ArchivedNoticeProps {
  session: Session;
  api: Pick<Api, 'restore'>;
  onRestored(session: Session): void;
}

/** Claude Code deleted this session; the archive has it, and it can be brought back. */
export function ArchivedNotice({ session, api, onRestored }: ArchivedNoticeProps) {
  const [problem, setProblem] = useState('');
  const [going, setGoing] = useState(false);
  const since = fullTime(session.archivedSince);

  async function restore(): Promise<void> {
    setGoing(true);
    const outcome = await api.restore(session.id);
    setGoing(false);
    setProblem(outcome.ok ? '' : outcome.failure.sentence);
    if (outcome.ok) onRestored(outcome.value);
  }

  return (
    <section class="interrupted" aria-label="Archived">
      <p>
        <b>Archived.</b> Claude Code deleted this session{since && ` on ${since}`}. It is kept here,
        and the next message brings it back. {problem}
      </p>
      <button type="button" disabled={going} onClick={() => void restore()}>
        Restore
      </button>
    </section>
  );
}
