import { spelledOut } from '../../lib/sanitize';
import { CopyButton } from '../../ui/CopyButton';
import './shell-command.css';

export interface CommandProps {
  command: string;
  description?: string | null;
}

/** A command in full. Nothing in it can hide: what has no shape of its own is spelled out. */
export function Command({ command, description }: CommandProps) {
  return (
    <div class="shell-command">
      {description && <p dir="auto">{spelledOut(description)}</p>}
      <div class="shell-line">
        <pre dir="ltr">
          <code>{spelledOut(command)}</code>
        </pre>
        <CopyButton text={command} label="Copy the command" />
      </div>
    </div>
  );
}
