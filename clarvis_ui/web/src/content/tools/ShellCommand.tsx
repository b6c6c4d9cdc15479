import { revealInvisible } from '../../lib/sanitize';
import { CopyButton } from '../../ui/CopyButton';
import './shell-command.css';

export interface ShellCommandProps {
  command: string;
  description?: string | null;
}

/** A command in full, with invisible characters spelled out, so that nothing in it can hide. */
export function ShellCommand({ command, description }: ShellCommandProps) {
  return (
    <div class="shell-command">
      {description && <p dir="auto">{revealInvisible(description)}</p>}
      <div class="shell-line">
        <pre dir="ltr">
          <code>{revealInvisible(command)}</code>
        </pre>
        <CopyButton text={command} label="Copy the command" />
      </div>
    </div>
  );
}
