import { useState } from 'preact/hooks';
import type { Answer } from '../../transport/attention';
import { askedBy } from './asked';
import { EvidenceView } from './EvidenceView';
import type { CardProps } from './PermissionCard';
import { Reason } from './Reason';
import { isSecondClick } from './useGuard';
import { useKeys } from './useKeys';

const APPROVED: Answer = { decision: 'allow' };
const APPROVED_WITH_EDITS: Answer = {
  decision: 'allow',
  updatedPermissions: [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }],
};

/** A plan to read: carry it out, or send it back with what is missing. */
export function PlanCard({ attention, workdir, ready, keys, headingId, onAnswer }: CardProps) {
  const [sendingBack, setSendingBack] = useState(false);
  const asked = askedBy(attention, workdir);
  useKeys(
    {
      a: () => onAnswer(APPROVED),
      1: () => onAnswer(APPROVED_WITH_EDITS),
      d: () => setSendingBack(true),
    },
    keys && ready && !sendingBack,
  );
  const answer = (given: Answer) => (event: MouseEvent) => {
    if (!isSecondClick(event)) onAnswer(given);
  };

  return (
    <>
      <header class="card-head">
        <h2 id={headingId}>{asked.title}</h2>
      </header>
      <div class="card-evidence">
        <EvidenceView evidence={asked.evidence} workdir={workdir} />
      </div>
      {sendingBack ? (
        <Reason
          label="What should be different?"
          placeholder="Claude goes on planning with this"
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
