import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Outcome } from '../api/result';
import type { Session } from '../api/sessions';

/** Null gives the session its own title back. */
export type Rename = (name: string | null) => Promise<Outcome<Session>>;

/** The form in which a session gets another name. */
export function useRename(onRename: Rename, onClose: () => void) {
  const input = useRef<HTMLInputElement>(null);
  const saving = useSignal(false);
  const problem = useSignal('');

  // at once: what is typed next is meant for it, and not for keys of the page
  useLayoutEffect(() => input.current?.select(), []);

  async function save(name: string | null): Promise<void> {
    if (saving.value) return;
    saving.value = true;
    const outcome = await onRename(name);
    saving.value = false;
    if (outcome.ok) onClose();
    else problem.value = outcome.failure.sentence;
  }

  return {
    saving,
    problem,
    save,
    field: {
      ref: input,
      'aria-label': 'Name of this session',
      maxLength: 200,
      dir: 'auto',
    } as const,
    onSubmit(event: Event) {
      event.preventDefault();
      void save(input.current?.value.trim() || null);
    },
  };
}
