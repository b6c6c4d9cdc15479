import { useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from '../ui/Icon';
import { CommandForm, type CommandFormProps } from './CommandForm';

/** The command bar as a dialog; on a phone a sheet. Closing it keeps the text. */
export function CommandDialog(props: CommandFormProps) {
  const { isOpen } = props.commandSetup.command;
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    dialog.current?.showModal();
    dialog.current?.querySelector('textarea')?.focus();
  }, []);

  return (
    <dialog
      ref={dialog}
      class="say-dialog"
      aria-label="Say what you want"
      onClose={() => {
        isOpen.value = false;
      }}
      // what is typed here is not for the page behind it
      onKeyDown={(event) => event.stopPropagation()}
      onClick={(event) => {
        if (event.target === dialog.current) dialog.current?.close();
      }}
    >
      <header class="say-head">
        <h2>Say what you want</h2>
        <button
          type="button"
          class="quiet"
          aria-label="Close"
          onClick={() => dialog.current?.close()}
        >
          <Icon name="clear" />
        </button>
      </header>
      <CommandForm {...props} onDone={() => dialog.current?.close()} />
    </dialog>
  );
}
