import { revealInvisible } from '../../lib/sanitize';
import { NO_CHOICE } from '../answerDrafts';
import type { CardProps } from './cardProps';
import {
  type CeilingName,
  type CeilingUsage,
  ceilingUsageOf,
  presentationOf,
} from './presentation';
import { ReasonField } from './ReasonField';
import { isSecondClick } from './useDoubleClickGuard';
import { useShortcuts } from './useShortcuts';

const FURTHER: Readonly<Record<CeilingName, string>> = {
  costUsd: 'Further dollars',
  turns: 'Further turns',
  hours: 'Further hours',
};

/** An item of work has used what it may: let it go on, so much further, or end it. */
export function CeilingCard(props: CardProps) {
  const { attention, workdir, keys, headingId, draft, onHalf, onAnswer } = props;
  const presentation = presentationOf(attention, workdir);
  const reached = ceilingUsageOf(attention.input);
  const ending = draft.open !== null;
  const setEnding = (open: boolean): void => onHalf({ open: open ? 'deny' : null, text: null });
  const typed = ({ name, further }: CeilingUsage): string =>
    draft.choices[name]?.other ?? String(further);
  const amounts = Object.fromEntries(reached.map((one) => [one.name, Number(typed(one))]));
  const ready = props.ready && reached.every((one) => isAmount(one.name, amounts[one.name] ?? 0));

  const goOn = (): void =>
    onAnswer({ decision: 'allow', updatedInput: { ...attention.input, further: amounts } });
  useShortcuts(
    { a: ready ? goOn : undefined, d: () => setEnding(true) },
    keys && props.ready && !ending,
  );

  return (
    <>
      <header class="card-head">
        <h2 id={headingId} dir="auto">
          {revealInvisible(presentation.title)}
        </h2>
        <p>{presentation.sentence} Nothing more is done on it until you answer.</p>
      </header>
      {ending ? (
        <ReasonField
          label="Why is it ended? Nothing more can be dispatched on this item."
          placeholder="Optional"
          text={draft.text ?? ''}
          onText={(text) => onHalf({ text })}
          submit="End it"
          disabled={!props.ready}
          onSubmit={(text) => {
            const message = text.trim();
            onAnswer(message === '' ? { decision: 'deny' } : { decision: 'deny', message });
          }}
          onCancel={() => setEnding(false)}
        />
      ) : (
        <form
          class="card-actions"
          aria-labelledby={headingId}
          onSubmit={(event) => {
            event.preventDefault();
            if (ready) goOn();
          }}
        >
          {reached.map((one) => (
            <label key={one.name} class="card-amount">
              {FURTHER[one.name]}
              <input
                type="number"
                inputMode="decimal"
                min={0}
                step={one.name === 'turns' ? 1 : 'any'}
                value={typed(one)}
                onInput={(event) =>
                  onHalf({
                    choices: {
                      ...draft.choices,
                      [one.name]: { ...NO_CHOICE, other: event.currentTarget.value },
                    },
                  })
                }
              />
            </label>
          ))}
          <button
            type="submit"
            class="accent"
            disabled={!ready}
            onClick={(event) => {
              if (isSecondClick(event)) event.preventDefault();
            }}
          >
            Go on <kbd>a</kbd>
          </button>
          <button
            type="button"
            class="quiet card-last"
            disabled={!props.ready}
            onClick={() => setEnding(true)}
          >
            End… <kbd>d</kbd>
          </button>
        </form>
      )}
    </>
  );
}

function isAmount(name: CeilingName, amount: number): boolean {
  return amount > 0 && Number.isFinite(amount) && (name !== 'turns' || Number.isInteger(amount));
}
