import { Diff } from '../../content/Diff';
import { ShellCommand } from '../../content/tools/ShellCommand';
import { relativeTo } from '../../lib/paths';
import { revealInvisible } from '../../lib/sanitize';
import type { Evidence } from './presentation';

export interface EvidenceViewProps {
  evidence: Evidence;
  workdir: string | null;
}

/** All that there is to judge a question by. */
export function EvidenceView({ evidence, workdir }: EvidenceViewProps) {
  switch (evidence.kind) {
    case 'command':
      return <ShellCommand command={evidence.command} />;
    case 'changes':
      return (
        <>
          {evidence.changes.map((change, at) => (
            <Diff key={at} {...change} path={relativeTo(change.path, workdir)} />
          ))}
        </>
      );
    case 'words':
      return (
        <dl class="card-words">
          <dt>{evidence.name}</dt>
          <dd dir="auto">{revealInvisible(evidence.words)}</dd>
        </dl>
      );
    case 'input':
      return (
        <dl class="card-words">
          {Object.entries(evidence.input).map(([name, value]) => (
            <div key={name}>
              <dt>{revealInvisible(name)}</dt>
              <dd dir="auto">
                {revealInvisible(
                  typeof value === 'string' ? value : JSON.stringify(value, null, 2),
                )}
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
