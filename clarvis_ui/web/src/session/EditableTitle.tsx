import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { Session } from '../api/sessions';
import { isComposing } from '../lib/input';
import { titleOf } from '../sessions/labels';
import { Icon } from '../ui/Icon';
import { type Rename, useRename } from './useRename';
import './editable-title.css';

export interface EditableTitleProps {
  session: Session;
  onRename: Rename;
}

/** The title, and in its place a field to change it. */
export function EditableTitle({ session, onRename }: EditableTitleProps) {
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

function TitleField({ session, onRename, onClose }: EditableTitleProps & { onClose(): void }) {
  const { field, saving, problem, save, onSubmit } = useRename(onRename, onClose);
  return (
    <form
      class="title-form"
      onSubmit={onSubmit}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || isComposing(event)) return;
        // it closes this field, and does not stop Claude
        event.preventDefault();
        onClose();
      }}
    >
      <input
        {...field}
        aria-describedby="rename-failure"
        placeholder={session.title ?? 'Name'}
        defaultValue={session.name ?? session.title ?? ''}
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
        {problem.value}
      </p>
    </form>
  );
}
