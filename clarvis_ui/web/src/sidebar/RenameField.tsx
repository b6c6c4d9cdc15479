import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Outcome } from '../api/result';
import type { Session } from '../api/sessions';
import { titleOf } from '../sessions/labels';
import { ROW_HEIGHT } from './listLayout';

export interface RowNameProps {
  session: Session;
  onRename(name: string | null): Promise<Outcome<Session>>;
  /** Done, or given up. */
  onClose(): void;
}

/** A row while it is being named. Nothing typed gives the session its own title back. */
export function RowName({ session, onRename, onClose }: RowNameProps) {
  const field = useRef<HTMLInputElement>(null);
  const saving = useRef(false);
  const [failure, setFailure] = useState('');

  // at once: what is typed next is meant for it, and not for keys of the page
  useLayoutEffect(() => field.current?.select(), []);

  async function save(): Promise<void> {
    if (saving.current) return;
    saving.current = true;
    const outcome = await onRename(field.current?.value.trim() || null);
    saving.current = false;
    if (outcome.ok) onClose();
    else setFailure(outcome.failure.sentence);
  }

  return (
    <form
      class="row row-form"
      style={{ height: `${ROW_HEIGHT}px` }}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <input
        ref={field}
        aria-label="Name of this session"
        aria-invalid={failure !== ''}
        title={failure}
        placeholder={session.title ?? session.firstPrompt ?? 'Name'}
        defaultValue={titleOf(session)}
        maxLength={200}
        dir="auto"
        onKeyDown={(event) => {
          event.stopPropagation(); // arrows move the caret here, not the list
          if (event.key === 'Escape') onClose();
        }}
        onBlur={() => {
          if (!saving.current) onClose();
        }}
      />
      {failure !== '' && (
        <span class="spoken" role="alert">
          {failure}
        </span>
      )}
    </form>
  );
}
