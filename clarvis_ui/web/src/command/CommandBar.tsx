import { useEffect } from 'preact/hooks';
import type { Clarvis } from '../app/store';
import { useModule } from '../ui/useLazy';
import type { Commanding } from './setup';

export interface CommandBarProps {
  clarvis: Clarvis;
  commanding: Commanding;
  currentId: string | null;
}

export const loadBar = () => import('./lazy');

/** Where one can say something, from anywhere: in the page if it is there, else over it. */
export function openBar({ command }: Commanding): void {
  const inPage = document.querySelector<HTMLElement>('.say-panel textarea');
  if (inPage?.checkVisibility({ visibilityProperty: true })) inPage.focus();
  else command.shown.value = true;
}

/** Ctrl+K, or Cmd+K, wherever one is; the bar itself is fetched when it is first needed. */
export function CommandBar(props: CommandBarProps) {
  const { commanding } = props;
  const { command, holding } = commanding;
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      const asked = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey);
      if (!asked || event.shiftKey || event.altKey || event.isComposing) return;
      event.preventDefault();
      event.stopPropagation();
      if (command.shown.value) command.shown.value = false;
      else openBar(commanding);
    }
    // before anything else in the page takes the key
    window.addEventListener('keydown', onKeyDown, { capture: true });
    return () => window.removeEventListener('keydown', onKeyDown, { capture: true });
  }, [commanding, command]);

  const wanted = command.shown.value || holding.entries.value.length > 0;
  return wanted ? <Fetched {...props} /> : null;
}

function Fetched({ clarvis, commanding, currentId }: CommandBarProps) {
  const loaded = useModule(loadBar);
  if (loaded === null) return null;
  if ('failed' in loaded) return <OutOfDate />;
  const { CommandDialog, OnItsWay } = loaded.module;
  return (
    <>
      <OnItsWay commanding={commanding} onEdit={() => openBar(commanding)} />
      {commanding.command.shown.value && (
        <CommandDialog
          commanding={commanding}
          sessions={clarvis.sessions.newestFirst.value}
          currentId={currentId}
          api={clarvis.api}
        />
      )}
    </>
  );
}

function OutOfDate() {
  return (
    <p class="spoken" role="alert">
      A part of this page could not be fetched; reload it.
    </p>
  );
}
