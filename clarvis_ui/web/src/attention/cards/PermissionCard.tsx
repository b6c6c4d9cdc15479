import { useState } from 'preact/hooks';
import type { Answer, Attention } from '../../api/attention';
import { relativeTo } from '../../lib/paths';
import { revealInvisible } from '../../lib/sanitize';
import type { CardProps } from './cardProps';
import { EvidenceView } from './EvidenceView';
import {
  editableText,
  editedInput,
  grantWords,
  offeredGrants,
  presentationOf,
} from './presentation';
import { ReasonField } from './ReasonField';
import { isSecondClick } from './useDoubleClickGuard';
import { useShortcuts } from './useShortcuts';

/** May this be done? What it is, and every answer there is. */
export function PermissionCard(props: CardProps) {
  const { attention, workdir, ready, keys, headingId, draft, onHalf, onAnswer } = props;
  const setMode = (open: 'deny' | 'change' | null): void => onHalf({ open, text: null });
  const choosing = draft.open === null;
  const [problem, setProblem] = useState<string | null>(null);
  const presentation = presentationOf(attention, workdir);
  const always = offeredGrants(attention, workdir).map((grant) => ({
    words: revealInvisible(grantWords(grant, workdir)),
    answer: { decision: 'allow', updatedPermissions: grant } satisfies Answer,
  }));
  const numbered = Object.fromEntries(
    always.map(({ answer }, at) => [String(at + 1), () => onAnswer(answer)]),
  );
  useShortcuts(
    { a: () => onAnswer({ decision: 'allow' }), d: () => setMode('deny'), ...numbered },
    keys && ready && choosing,
  );

  const answer = (chosen: Answer) => (event: MouseEvent) => {
    if (!isSecondClick(event)) onAnswer(chosen);
  };

  const buttons = always.map(({ words, answer: chosen }, at) => (
    <button key={at} type="button" class="card-always" disabled={!ready} onClick={answer(chosen)}>
      <span dir="auto">{words}</span> <kbd>{at + 1}</kbd>
    </button>
  ));

  return (
    <>
      <header class="card-head">
        <h2 id={headingId} dir="auto">
          {revealInvisible(presentation.title)}
        </h2>
        {presentation.sentence && <p dir="auto">{revealInvisible(presentation.sentence)}</p>}
        <Because attention={attention} workdir={workdir} />
      </header>
      <div class="card-evidence">
        <EvidenceView evidence={presentation.evidence} workdir={workdir} />
      </div>
      {draft.open === 'deny' && (
        <ReasonField
          label="Why not? Claude is told, and goes on."
          placeholder="Optional: what should be done instead"
          text={draft.text ?? ''}
          onText={(text) => onHalf({ text })}
          submit="Deny"
          other={{
            label: 'Deny and stop',
            act: (text) => onAnswer({ ...denial(text), interrupt: true, hold: true }),
          }}
          disabled={!ready}
          onSubmit={(text) => onAnswer(denial(text))}
          onCancel={() => setMode(null)}
        />
      )}
      {draft.open === 'change' && (
        <ReasonField
          label="Do this instead"
          placeholder=""
          text={draft.text ?? editableText(attention)}
          onText={(text) => onHalf({ text })}
          code
          submit="Allow as changed"
          problem={problem}
          disabled={!ready}
          onSubmit={(text) => {
            const updatedInput = editedInput(attention, text);
            if (updatedInput) onAnswer({ decision: 'allow', updatedInput });
            else setProblem('This is not valid JSON.');
          }}
          onCancel={() => {
            setProblem(null);
            setMode(null);
          }}
        />
      )}
      {choosing && (
        <div class="card-actions">
          <button
            type="button"
            class="accent"
            disabled={!ready}
            onClick={answer({ decision: 'allow' })}
          >
            Allow <kbd>a</kbd>
          </button>
          {buttons.length === 1 && buttons}
          <button
            type="button"
            class="card-change"
            disabled={!ready}
            onClick={() => setMode('change')}
          >
            Change…
          </button>
          <button
            type="button"
            class="quiet card-last"
            disabled={!ready}
            onClick={() => setMode('deny')}
          >
            Deny… <kbd>d</kbd>
          </button>
          {buttons.length > 1 && <div class="card-many">{buttons}</div>}
        </div>
      )}
    </>
  );
}

function denial(text: string): Answer {
  const message = text.trim();
  return message === '' ? { decision: 'deny' } : { decision: 'deny', message };
}

/** Why permission is needed, and who asks. */
function Because({ attention, workdir }: { attention: Attention; workdir: string | null }) {
  const parts = [
    attention.reason,
    outside(attention.blockedPath, workdir),
    attention.agentId && 'Asked by a subagent.',
  ].filter(Boolean);
  return parts.length > 0 ? (
    <p class="card-because" dir="auto">
      {revealInvisible(parts.join(' · '))}
    </p>
  ) : null;
}

/** A path is worth a word only where it leads out of the session's directory. */
function outside(path: string | null, workdir: string | null): string | null {
  if (path === null || relativeTo(path, workdir) !== path || !path.startsWith('/')) return null;
  return `Outside of this session's directory: ${path}`;
}
