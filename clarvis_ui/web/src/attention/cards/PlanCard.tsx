import type { Answer } from '../../api/attention';
import { Markdown } from '../../content/Markdown';
import type { CardProps } from './cardProps';
import { ReasonField } from './ReasonField';
import { isSecondClick } from './useDoubleClickGuard';
import { usePlan } from './usePlan';
import { useShortcuts } from './useShortcuts';

const APPROVED: Answer = { decision: 'allow' };
const APPROVED_WITH_EDITS: Answer = {
  decision: 'allow',
  updatedPermissions: [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }],
};

/** A plan to read: carry it out, or send it back with what is missing. */
export function PlanCard(props: CardProps) {
  const { attention, source, keys, headingId, draft, onHalf, onAnswer } = props;
  const sendingBack = draft.open !== null;
  const setSendingBack = (open: boolean): void =>
    onHalf({ open: open ? 'deny' : null, text: null });
  const plan = usePlan(attention, source);
  // a plan cannot be approved before it is loaded
  const ready = props.ready && plan !== null;
  useShortcuts(
    {
      a: () => onAnswer(APPROVED),
      1: () => onAnswer(APPROVED_WITH_EDITS),
      d: () => setSendingBack(true),
    },
    keys && ready && !sendingBack,
  );
  const answer = (chosen: Answer) => (event: MouseEvent) => {
    if (!isSecondClick(event)) onAnswer(chosen);
  };

  return (
    <>
      <header class="card-head">
        <h2 id={headingId}>Carry out this plan?</h2>
      </header>
      <div class="card-evidence">
        {plan !== null && (
          <div class="card-plan">
            {plan === '' ? <p>The plan is in the conversation above.</p> : <Markdown text={plan} />}
          </div>
        )}
      </div>
      {sendingBack ? (
        <ReasonField
          label="What should be different?"
          placeholder="Claude goes on planning with this"
          text={draft.text ?? ''}
          onText={(text) => onHalf({ text })}
          submit="Send back"
          disabled={!ready}
          onSubmit={(text) => {
            const message = text.trim();
            onAnswer(message === '' ? { decision: 'deny' } : { decision: 'deny', message });
          }}
          onCancel={() => setSendingBack(false)}
        />
      ) : (
        <div class="card-actions">
          <button type="button" class="accent" disabled={!ready} onClick={answer(APPROVED)}>
            Approve, ask before edits <kbd>a</kbd>
          </button>
          <button type="button" disabled={!ready} onClick={answer(APPROVED_WITH_EDITS)}>
            Approve and allow edits in this session <kbd>1</kbd>
          </button>
          <button
            type="button"
            class="quiet card-last"
            disabled={!ready}
            onClick={() => setSendingBack(true)}
          >
            Send back… <kbd>d</kbd>
          </button>
        </div>
      )}
    </>
  );
}
