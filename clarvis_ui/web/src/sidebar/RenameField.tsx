import type { Session } from '../api/sessions';
import { type Rename, useRename } from '../session/useRename';
import { titleOf } from '../sessions/labels';
import { ROW_HEIGHT } from './listLayout';

export interface RenameFieldProps {
  session: Session;
  onRename: Rename;
  onClose(): void;
}

/** A row while it is renamed. */
export function RenameField({ session, onRename, onClose }: RenameFieldProps) {
  const { field, saving, problem, onSubmit } = useRename(onRename, onClose);
  return (
    <form class="row row-form" style={{ height: `${ROW_HEIGHT}px` }} onSubmit={onSubmit}>
      <input
        {...field}
        aria-invalid={problem.value !== ''}
        title={problem.value}
        placeholder={session.title ?? session.firstPrompt ?? 'Name'}
        defaultValue={titleOf(session)}
        onKeyDown={(event) => {
          event.stopPropagation(); // arrows move the caret here, not the list
          if (event.key === 'Escape') onClose();
        }}
        onBlur={() => {
          if (!saving.value) onClose();
        }}
      />
      {problem.value !== '' && (
        <span class="spoken" role="alert">
          {problem.value}
        </span>
      )}
    </form>
  );
}
