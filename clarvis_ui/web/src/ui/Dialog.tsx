import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from './Icon';

interface DialogProps {
  name: string;
  /** Of the dialog; its parts are called after it. */
  kind: string;
  onClose(): void;
  children: ComponentChildren;
}

/** Something to read over the page: Esc, the cross and a click beside it close it. */
export function Dialog({ name, kind, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Esc closes a dialog by itself
    <dialog
      ref={dialog}
      class={kind}
      aria-label={name}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === dialog.current) dialog.current?.close();
      }}
    >
      <div class={`${kind}-inner`}>
        <button
          type="button"
          class={`quiet ${kind}-close`}
          aria-label="Close"
          onClick={() => dialog.current?.close()}
        >
          <Icon name="clear" />
        </button>
        {children}
      </div>
    </dialog>
  );
}
