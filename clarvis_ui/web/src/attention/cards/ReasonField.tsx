import { useLayoutEffect, useRef } from 'preact/hooks';
import { isComposing, isTouch } from '../../lib/input';

export interface ReasonFieldProps {
  label: string;
  placeholder: string;
  text: string;
  onText(text: string): void;
  code?: boolean;
  submit: string;
  /** Beside the first way to submit, another. */
  other?: { label: string; act(text: string): void };
  problem?: string | null;
  disabled: boolean;
  onSubmit(text: string): void;
  onCancel(): void;
}

/** A field in the card: a reason, another input, what to do instead. */
export function ReasonField(props: ReasonFieldProps) {
  const { text } = props;
  const field = useRef<HTMLTextAreaElement>(null);

  // at once: what is typed next is meant for it
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(field.current.value.length, field.current.value.length);
  }, []);

  return (
    <form
      class="card-reason"
      onSubmit={(event) => {
        event.preventDefault();
        props.onSubmit(text);
      }}
    >
      <label>
        <span class="card-label">{props.label}</span>
        <textarea
          ref={field}
          class={props.code ? 'card-code' : undefined}
          rows={props.code ? 4 : 2}
          dir={props.code ? 'ltr' : undefined}
          spellcheck={!props.code}
          placeholder={props.placeholder}
          value={text}
          onInput={(event) => props.onText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (isComposing(event)) return;
            if (event.key === 'Escape') {
              // it closes this field, and does not stop Claude
              event.preventDefault();
              event.stopPropagation();
              props.onCancel();
            }
            const plainEnter =
              event.key === 'Enter' && !event.shiftKey && !props.code && !isTouch();
            if (plainEnter || (event.key === 'Enter' && (event.ctrlKey || event.metaKey))) {
              event.preventDefault();
              event.stopPropagation();
              if (!props.disabled) props.onSubmit(text);
            }
          }}
        />
      </label>
      {props.problem && (
        <p class="card-problem" role="alert">
          {props.problem}
        </p>
      )}
      <div class="card-actions">
        <button type="submit" class="strong" disabled={props.disabled}>
          {props.submit}
        </button>
        {props.other && (
          <button type="button" disabled={props.disabled} onClick={() => props.other?.act(text)}>
            {props.other.label}
          </button>
        )}
        <button type="button" class="quiet card-last" onClick={props.onCancel}>
          Back
        </button>
      </div>
    </form>
  );
}
