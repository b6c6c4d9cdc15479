import { useEffect } from 'preact/hooks';
import type { AppStore } from '../app/store';
import { lazy } from '../ui/lazy';
import type { CommandSetup } from './setup';

export interface CommandBarProps {
  app: AppStore;
  commandSetup: CommandSetup;
  currentId: string | null;
}

const CommandOverlay = lazy(async () => (await import('./CommandViews')).CommandOverlay, OutOfDate);

/** Opens the command bar: focuses the one in the page, or shows it over the page. */
export function openBar({ command }: CommandSetup): void {
  const inPage = document.querySelector<HTMLElement>('.say-panel textarea');
  if (inPage?.checkVisibility({ visibilityProperty: true })) inPage.focus();
  else command.isOpen.value = true;
}

/** Ctrl+K or Cmd+K, and the bar itself, whose code is fetched when it is first needed. */
export function CommandBar({ app, commandSetup, currentId }: CommandBarProps) {
  const { command, undoSend } = commandSetup;
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      const isShortcut = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey);
      if (!isShortcut || event.shiftKey || event.altKey || event.isComposing) return;
      event.preventDefault();
      event.stopPropagation();
      if (command.isOpen.value) command.isOpen.value = false;
      else openBar(commandSetup);
    }
    // before anything else in the page takes the key
    window.addEventListener('keydown', onKeyDown, { capture: true });
    return () => window.removeEventListener('keydown', onKeyDown, { capture: true });
  }, [commandSetup, command]);

  const wanted = command.isOpen.value || undoSend.entries.value.length > 0;
  if (!wanted) return null;
  return (
    <CommandOverlay
      commandSetup={commandSetup}
      sessions={app.sessions.newestFirst.value}
      currentId={currentId}
      api={app.api}
      onEdit={() => openBar(commandSetup)}
    />
  );
}

function OutOfDate() {
  return (
    <p class="spoken" role="alert">
      A part of this page could not be fetched; reload it.
    </p>
  );
}
