import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Outcome } from '../api/result';
import type { Session } from '../api/sessions';
import { isComposing } from '../lib/input';
import { titleOf } from '../sessions/labels';
import { Icon } from '../ui/Icon';
import './editable-title.css';

export interface TitleProps {
  session: Session;
  /** Null gives the session its own title back. */
  onRename(name: string | null): Promise<Outcome<Session>>;
}

/** The title, and in its place a field to change it. */
export function Title({ session, onRename }: TitleProps) {
  const editing = useSignal(false);
  const rename = useRef<HTMLButtonElement>(null);

  function close(): void {
    editing.value = false;
    // the button comes back with the next drawing
    requestAnimationFrame(() => rename.current?.focus());
  }

  if (editing.value) return <TitleField session={session} onRename={onRename} onClose={close} />;
  return (
    <div class="title">
      <h1 dir="auto" title={titleOf(session)}>
        {titleOf(session)}
      </h1>
      <button
        ref={rename}
        type="button"
        class="quiet"
        aria-label="Rename"
        title="Rename"
        onClick={() => {
          editing.value = true;
        }}
      >
        <Icon name="pencil" />
      </button>
    </div>
  );
}

function TitleField({ session, onRename, onClose }: TitleProps & { onClose(): void }) {
  const text = useSignal(session.name ?? session.title ?? '');
  const saving = useSignal(false);
  const failure = useSignal('');
  const field = useRef<HTMLInputElement>(null);

  // at once: what is typed next is meant for it, and not for keys of the page
  useLayoutEffect(() => field.current?.select(), []);

  async function save(name: string | null): Promise<void> {
    if (saving.value) return;
    saving.value = true;
    const outcome = await onRename(name);
    saving.value = false;
    if (outcome.ok) onClose();
    else failure.value = outcome.failure.sentence;
  }

  return (
    <form
      class="title-form"
      onSubmit={(event) => {
        event.preventDefault();
        void save(text.value.trim() || null);
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || isComposing(event)) return;
        // it closes this field, and does not stop Claude
        event.preventDefault();
        onClose();
      }}
    >
      <input
        ref={field}
        aria-label="Name of this session"
        aria-describedby="rename-failure"
        placeholder={session.title ?? 'Name'}
        maxLength={200}
        dir="auto"
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
        }}
      />
      <div class="title-buttons">
        <button type="submit" class="strong" disabled={saving.value}>
          Save
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        {session.name !== null && (
          <button type="button" class="quiet" onClick={() => save(null)}>
            Use its own title
          </button>
        )}
      </div>
      <p id="rename-failure" class="title-failure" role="alert">
        {failure.value}
      </p>
    </form>
  );
}
