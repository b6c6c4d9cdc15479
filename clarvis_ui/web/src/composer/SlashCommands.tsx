import { useEffect, useRef } from 'preact/hooks';
import type { SlashCommand } from '../api/send';

export interface SlashCommandsProps {
  /** Null while Claude Code is being asked. */
  commands: readonly SlashCommand[] | null;
  active: number;
  onPick(command: SlashCommand): void;
}

/** What can be typed after a slash. */
export function SlashCommands({ commands, active, onPick }: SlashCommandsProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [active]);

  return (
    <div class="commands" id="commands" role="listbox" aria-label="Commands" ref={list}>
      {commands === null && <p class="commands-loading">Asking Claude Code for its commands…</p>}
      {commands?.map((command, at) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and says which is active
        // biome-ignore lint/a11y/useKeyWithClickEvents: its keys are those of the field
        <div
          key={command.name}
          id={`command-${at}`}
          class="commands-one"
          role="option"
          aria-selected={at === active}
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onPick(command)}
        >
          <span class="commands-name">
            /{command.name}
            {command.argumentHint && <i> {command.argumentHint}</i>}
          </span>
          {command.description && <span class="commands-words">{command.description}</span>}
        </div>
      ))}
    </div>
  );
}
