import { counted } from '../lib/format';
import { isTouch } from '../lib/input';
import type { DetectedAction } from './useSpokenAction';
import './spoken-action.css';

export interface SpokenActionBarProps {
  meant: DetectedAction;
  onConfirm(): void;
  /** As a message to Claude, as it stands there. */
  onSend(): void;
}

/** Says what Enter does with the words in the field, and what else can be done with them. */
export function SpokenActionBar({ meant, onConfirm, onSend }: SpokenActionBarProps) {
  const { action, quotation } = meant;
  const nothing = action.kind === 'decided' && quotation?.quotes.length === 0;
  return (
    <section class="asking" aria-label="What these words do">
      {action.kind === 'decided' && quotation && quotation.quotes.length > 0 && (
        <>
          <p>
            Decided earlier about <b dir="auto">{action.about}</b>:
          </p>
          <ul>
            {quotation.quotes.map(({ text, elsewhere }) => (
              <li key={text} dir="auto">
                {elsewhere !== null && <i>In “{elsewhere}”: </i>}
                {text}
              </li>
            ))}
          </ul>
          {quotation.omitted > 0 && <p>{quotation.omitted} more would not fit.</p>}
        </>
      )}
      {action.kind === 'decided' && quotation === null && (
        <p role="status">Looking for decisions…</p>
      )}
      {nothing && (
        <p role="status">
          No decision about <b dir="auto">{action.about}</b> was found.{' '}
          {isTouch() ? 'Send' : 'Enter'} asks Claude.
        </p>
      )}
      {confirms(meant) && (
        <p class="asking-keys" role="status">
          <button type="button" class="strong" onClick={onConfirm}>
            <kbd>Enter</kbd> {wordsFor(meant)}
          </button>
          <button type="button" class="quiet" onClick={onSend}>
            <kbd>Ctrl Enter</kbd> {action.kind === 'decided' ? 'Ask without it' : 'Send to Claude'}
          </button>
        </p>
      )}
    </section>
  );
}

/** Whether Enter does something else than to send the words. */
export function confirms({ action, quotation }: DetectedAction): boolean {
  return action.kind !== 'decided' || (quotation !== null && quotation.quotes.length > 0);
}

function wordsFor({ action, quotation }: DetectedAction): string {
  switch (action.kind) {
    case 'recap':
      return action.level === 'quick'
        ? 'Quick recap of this session'
        : 'Detailed recap of this session';
    case 'skip':
      return 'Skip the recap';
    case 'alternative':
      return 'Explore it in a copy of this session';
    case 'decided':
      return `Ask with ${counted(quotation?.quotes.length ?? 0, 'decision')} quoted before it (about ${counted(quotation?.tokens ?? 0, 'token')})`;
    default:
      return action satisfies never;
  }
}
