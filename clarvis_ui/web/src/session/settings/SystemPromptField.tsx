import { count } from '../../lib/format';
import './system-prompt-field.css';

const MAX_CHARACTERS = 60_000;

export interface SystemPromptFieldProps {
  label: string;
  value: string;
  onInput(value: string): void;
  onKeyDown?(event: KeyboardEvent): void;
}

/** The field for a system prompt. Near the limit it shows the remaining characters. */
export function SystemPromptField({ label, value, onInput, onKeyDown }: SystemPromptFieldProps) {
  // as the keeper counts them: a sign outside the basic plane is one
  const characters = value.length > MAX_CHARACTERS / 2 ? [...value].length : 0;
  return (
    <>
      <textarea
        class="system-prompt-field"
        aria-label={label}
        rows={4}
        placeholder="What Claude should know or keep to in this session"
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {characters > MAX_CHARACTERS / 2 && (
        <p class="system-prompt-count" data-over={characters > MAX_CHARACTERS}>
          {count(characters)} of {count(MAX_CHARACTERS)} characters
        </p>
      )}
    </>
  );
}
