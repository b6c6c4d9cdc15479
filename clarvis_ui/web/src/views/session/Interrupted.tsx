import { useEffect, useState } from 'preact/hooks';
import type { Api } from '../../transport/api';
import type { Attention } from '../../transport/attention';

export interface InterruptedProps {
  sessionId: string;
  api: Pick<Api, 'leftOpen' | 'continueTurn'>;
}

/** The keeper ended in the middle of this turn: what it had asked, and one click to go on. */
export function Interrupted({ sessionId, api }: InterruptedProps) {
  const [open, setOpen] = useState<readonly Attention[]>([]);
  const [problem, setProblem] = useState('');
  const [going, setGoing] = useState(false);

  useEffect(() => {
    let current = true;
    void api.leftOpen(sessionId).then((outcome) => {
      if (current && outcome.ok) setOpen(outcome.value);
    });
    return () => {
      current = false;
    };
  }, [api, sessionId]);

  async function goOn(): Promise<void> {
    setGoing(true);
    const outcome = await api.continueTurn(sessionId);
    setProblem(outcome.ok ? '' : outcome.failure.sentence);
    setGoing(false);
  }

  return (
    <section class="interrupted" aria-label="Interrupted">
      <p>
        <b>Interrupted.</b> The keeper ended in the middle of this turn.
        {open.length > 0 && ' It was waiting for an answer; Claude will ask again.'} {problem}
      </p>
      {open.length > 0 && (
        <ul>
          {open.map((question) => (
            <li key={question.id}>
              <bdi>{question.title ?? question.tool}</bdi>
            </li>
          ))}
        </ul>
      )}
      <button type="button" disabled={going} onClick={() => void goOn()}>
        Continue
      </button>
    </section>
  );
}
