import { useState } from 'preact/hooks';
import type { Api } from '../api/client';
import type { Session } from '../api/sessions';

export interface GiveUpButtonProps {
  session: Session;
  api: Pick<Api, 'giveUp'>;
  onChanged(session: Session): void;
}

/** A session that one does not go on with can be marked so, and that can be taken back. */
export function GiveUpButton({ session, api, onChanged }: GiveUpButtonProps) {
  const [problem, setProblem] = useState('');
  const marked = session.givenUp !== null;

  async function change(): Promise<void> {
    const outcome = await api.giveUp(session.id, !marked);
    setProblem(outcome.ok ? '' : outcome.failure.sentence);
    if (outcome.ok) onChanged(outcome.value);
  }

  return (
    <div class="details-save">
      <button type="button" onClick={() => void change()}>
        {marked ? 'Take back “given up”' : 'Mark as given up'}
      </button>
      <p class="bad" role="alert">
        {problem}
      </p>
    </div>
  );
}
