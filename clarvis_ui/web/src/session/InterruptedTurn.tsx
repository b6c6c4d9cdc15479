import { useState } from 'preact/hooks';
import type { Interruption } from '../api/attention';
import type { Api } from '../api/client';
import type { Queued } from '../api/messages';
import type { Session } from '../api/sessions';
import { subjectOf } from '../attention/cards/presentation';
import type { VisibleMessage } from '../conversation/conversation';
import { textOf } from '../conversation/optimistic';
import { revealInvisible } from '../lib/sanitize';
import { TURN_INTERRUPTED } from '../sessions/labels';
import { Icon } from '../ui/Icon';
import { useRequest } from '../ui/useRequest';

export interface InterruptedTurnProps {
  session: Session;
  messages: readonly VisibleMessage[];
  /** The interrupted turn as the keeper stored it. */
  turn: Interruption;
  api: Pick<Api, 'continueTurn'>;
  onCompact(): void;
  /** Back into the field. */
  onEdit(queued: Queued): void;
}

const TOO_LONG = 'prompt_too_long';
const NOTHING: Interruption = { questions: [], prompts: [], queuedUuids: [], begun: true };

/** The interrupted turn, read again when its queue changes. */
export function useInterruptedTurn(
  api: Pick<Api, 'interruptedTurn'>,
  id: string,
  cutOff: boolean,
  queue: readonly Queued[],
): Interruption {
  const { value } = useRequest(cutOff ? () => api.interruptedTurn(id) : null, [api, id, queue]);
  return value ?? NOTHING;
}

/** An interrupted turn: its prompts and open questions, and a button to continue. */
export function InterruptedTurn(props: InterruptedTurnProps) {
  const { session, messages, turn, api, onCompact, onEdit } = props;
  const { id, error } = session;
  const { questions, prompts, queuedUuids, begun } = turn;
  const [problem, setProblem] = useState('');
  const [going, setGoing] = useState(false);

  async function goOn(): Promise<void> {
    setGoing(true);
    const outcome = await api.continueTurn(id);
    setProblem(outcome.ok ? '' : outcome.failure.sentence);
    setGoing(false);
  }

  // what this page itself could not send says so, with what can be done about it
  const unsaid = prompts.filter(({ uuid }) => !messages.some((message) => message.uuid === uuid));
  const tooLong = error?.code === TOO_LONG;
  const ended = error?.code === TURN_INTERRUPTED;
  const last = messages.at(-1);
  // the message says why, with what can be done about it; an older one says why of another turn
  const says = last?.optimistic === 'failed' && last.problem === error?.message;
  if (says && unsaid.length === 0 && questions.length === 0) return null;
  const isReasonVisible =
    last?.kind === 'error' && textOf(last.content).endsWith(error?.message ?? '');

  return (
    <section class="interrupted" aria-label="Interrupted">
      <p>
        <b>{ended ? 'Interrupted.' : 'Failed.'}</b>{' '}
        {isReasonVisible && !tooLong ? 'You can go on from here.' : ''}
        {!isReasonVisible && error?.message}
        {tooLong && ' Claude has no room for all of it: compact it first, then go on.'}
        {questions.length > 0 && ' It was waiting for an answer; Claude will ask again.'} {problem}
      </p>
      {unsaid.map(({ uuid, text, images }) => (
        <div class="interrupted-said" key={uuid}>
          <blockquote dir="auto" aria-label="What was said">
            {text || 'An image'}
          </blockquote>
          {queuedUuids.includes(uuid) && (
            <button
              type="button"
              class="quiet"
              aria-label={`Edit: ${text || 'An image'}`}
              title="Edit: back into the field"
              onClick={() => onEdit({ uuid, text, images, state: 'queued' })}
            >
              <Icon name="pencil" size={14} />
            </button>
          )}
        </div>
      ))}
      {questions.length > 0 && (
        <ul>
          {questions.map((question) => (
            <li key={question.id}>
              <bdi>{revealInvisible(question.title ?? subjectOf(question, session.workdir))}</bdi>
            </li>
          ))}
        </ul>
      )}
      {tooLong && (
        <button type="button" onClick={onCompact}>
          Compact
        </button>
      )}
      <button
        type="button"
        class={tooLong ? 'quiet' : ''}
        disabled={going}
        onClick={() => void goOn()}
      >
        {unsaid.length > 0 && !begun ? 'Send again' : 'Continue'}
      </button>
    </section>
  );
}
