import { Diff } from '../../content/Diff';
import { Command } from '../../content/tools/ShellCommand';
import { within } from '../../lib/paths';
import { spelledOut } from '../../lib/sanitize';
import type { Evidence } from './presentation';

export interface EvidenceProps {
  evidence: Evidence;
  workdir: string | null;
}

/** What one judges by, in full. */
export function EvidenceView({ evidence, workdir }: EvidenceProps) {
  switch (evidence.kind) {
    case 'command':
      return <Command command={evidence.command} />;
    case 'changes':
      return (
        <>
          {evidence.changes.map((change, at) => (
            <Diff key={at} {...change} path={within(change.path, workdir)} />
          ))}
        </>
      );
    case 'words':
      return (
        <dl class="card-words">
          <dt>{evidence.name}</dt>
          <dd dir="auto">{spelledOut(evidence.words)}</dd>
        </dl>
      );
    case 'input':
      return (
        <dl class="card-words">
          {Object.entries(evidence.input).map(([name, value]) => (
            <div key={name}>
              <dt>{spelledOut(name)}</dt>
              <dd dir="auto">
                {spelledOut(typeof value === 'string' ? value : JSON.stringify(value, null, 2))}
              </dd>
            </div>
          ))}
        </dl>
      );
    case 'none':
      return null;
    default:
      return evidence satisfies never;
  }
}
