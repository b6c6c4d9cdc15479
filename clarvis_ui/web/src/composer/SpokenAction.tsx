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
  const { asked, found } = meant;
  const nothing = asked.kind === 'decided' && found?.quotes.length === 0;
  return (
    <section class="asking" aria-label="What these words do">
      {asked.kind === 'decided' && found && found.quotes.length > 0 && (
        <>
          <p>
            Decided earlier about <b dir="auto">{asked.about}</b>:
          </p>
          <ul>
            {found.quotes.map(({ text, elsewhere }) => (
              <li key={text} dir="auto">
                {elsewhere !== null && <i>In “{elsewhere}”: </i>}
                {text}
              </li>
            ))}
          </ul>
          {found.left > 0 && <p>{found.left} more would not fit.</p>}
        </>
      )}
      {asked.kind === 'decided' && found === null && <p role="status">Looking for decisions…</p>}
      {nothing && (
        <p role="status">
          No decision about <b dir="auto">{asked.about}</b> was found.{' '}
          {isTouch() ? 'Send' : 'Enter'} asks Claude.
        </p>
      )}
      {confirms(meant) && (
        <p class="asking-keys" role="status">
          <button type="button" class="strong" onClick={onConfirm}>
            <kbd>Enter</kbd> {wordsFor(meant)}
          </button>
          <button type="button" class="quiet" onClick={onSend}>
            <kbd>Ctrl Enter</kbd> {asked.kind === 'decided' ? 'Ask without it' : 'Send to Claude'}
          </button>
        </p>
      )}
    </section>
  );
}

/** Whether Enter does something else than to send the words. */
export function confirms({ asked, found }: DetectedAction): boolean {
  return asked.kind !== 'decided' || (found !== null && found.quotes.length > 0);
}

function wordsFor({ asked, found }: DetectedAction): string {
  switch (asked.kind) {
    case 'recap':
      return asked.telling === 'quick'
        ? 'Quick recap of this session'
        : 'Detailed recap of this session';
    case 'skip':
      return 'Skip the recap';
    case 'alternative':
      return 'Explore it in a copy of this session';
    case 'decided':
      return `Ask with ${counted(found?.quotes.length ?? 0, 'decision')} quoted before it (about ${counted(found?.tokens ?? 0, 'token')})`;
    default:
      return asked satisfies never;
  }
}
