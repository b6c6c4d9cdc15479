import { useState } from 'preact/hooks';
import type { Family } from '../api/branches';
import { type ComparedBranches, comparedHref, messageHref, sessionHref } from '../app/routes';
import type { AppStore } from '../app/store';
import { counted, fullTime, relativeTime } from '../lib/format';
import { forkAndOpen } from '../session/fork';
import { useDelayed } from '../ui/useDelayed';
import { useNow } from '../ui/useNow';
import { allNodes, type BranchNode, chosenWith, kindWords, suggested } from './tree';

export interface BranchTreeProps {
  app: AppStore;
  id: string;
  nodes: readonly BranchNode[] | null;
  family: Family | null;
  /** How many branches inside the session are not listed. */
  more: number;
}

export function BranchTree({ app, id, nodes, family, more }: BranchTreeProps) {
  const [picked, setPicked] = useState<readonly string[] | null>(null);
  const [problem, setProblem] = useState('');
  const late = useDelayed(200);
  if (nodes === null) {
    return late ? <p class="branches-wait">Looking for branches…</p> : null;
  }
  const all = allNodes(nodes);
  const chosen = picked ?? suggested(nodes);
  const two = chosen.flatMap((key) => all.find((node) => node.key === key) ?? []);
  const [one, other] = two;

  async function goOn(node: BranchNode): Promise<void> {
    if (node.tip.tip === null) return;
    setProblem(await forkAndOpen(app, node.tip.session, node.tip.tip));
  }

  return (
    <div class="branches-log">
      <div class="branches-column">
        {all.length === 1 ? (
          <p class="branches-none">
            This conversation has gone one way only. “Fork from here”, in the menu of any message,
            tries another one and leaves this as it is.
          </p>
        ) : (
          <p class="branches-hint">Choose two to see them side by side.</p>
        )}
        <ul class="tree" aria-label="Branches">
          {nodes.map((node) => (
            <Limb
              key={node.key}
              node={node}
              chosen={chosen}
              alone={all.length === 1}
              onChoose={(key) => setPicked(chosenWith(chosen, key))}
              onGoOn={(node) => void goOn(node)}
            />
          ))}
        </ul>
        {more > 0 && (
          <p class="branches-note">{counted(more, 'older path')} that was left is not shown.</p>
        )}
        {family && !family.complete && (
          <p class="branches-note">Not every session has been read yet; there may be more forks.</p>
        )}
        <p class="branches-problem" role="alert">
          {problem}
        </p>
      </div>
      {all.length > 1 && (
        <footer class="branches-foot">
          <span role="status">
            {two.length === 2 ? 'Two are chosen.' : `${two.length} of two chosen.`}
          </span>
          {one && other ? (
            <a class="branches-compare" href={comparedHref(ordered(id, one, other))}>
              Compare side by side
            </a>
          ) : (
            <button type="button" disabled>
              Compare side by side
            </button>
          )}
        </footer>
      )}
    </div>
  );
}

/** What belongs to the session that is open comes first: it stays selected in the list. */
function ordered(id: string, one: BranchNode, other: BranchNode): ComparedBranches {
  const mine = (node: BranchNode) =>
    Number(node.tip.session !== id) * 2 + Number(node.kind !== 'now');
  const [first, second] = mine(one) <= mine(other) ? [one, other] : [other, one];
  return { one: first.tip, other: second.tip };
}

interface LimbProps {
  node: BranchNode;
  chosen: readonly string[];
  alone: boolean;
  onChoose(key: string): void;
  onGoOn(node: BranchNode): void;
}

function Limb(props: LimbProps) {
  const { node, chosen, alone, onChoose, onGoOn } = props;
  const now = useNow(60_000);
  const picked = chosen.includes(node.key);
  return (
    <li>
      <div class="limb" data-kind={node.kind} data-chosen={picked}>
        <label class="limb-choice" hidden={alone}>
          <input
            type="checkbox"
            checked={picked}
            aria-label={`Compare “${node.title}”`}
            onChange={() => onChoose(node.key)}
          />
        </label>
        <div class="limb-words">
          <p class="limb-kind">
            <span>{kindWords(node)}</span>
            {node.kind === 'now' && node.at && <span>open now</span>}
            <span>{counted(node.messages, 'message')}</span>
            {node.time && (
              <time dateTime={node.time} title={fullTime(node.time)}>
                {relativeTime(node.time, now)}
              </time>
            )}
          </p>
          <a class="limb-title" href={hrefOf(node)} dir="auto">
            {node.title}
          </a>
          {node.first && (
            <p class="limb-said" dir="auto">
              {node.first}
            </p>
          )}
          {node.last && (
            <p class="limb-said limb-last" dir="auto">
              {node.last}
            </p>
          )}
          <p class="limb-deeds">
            {node.at && <a href={messageHref(node.at.session, node.at.message)}>Where it leaves</a>}
            {node.kind === 'left' && (
              <button type="button" class="quiet" onClick={() => onGoOn(node)}>
                Go on from its end
              </button>
            )}
          </p>
        </div>
      </div>
      {node.children.length > 0 && (
        <ul aria-label={`Branches of “${node.title}”`}>
          {node.children.map((child) => (
            <Limb key={child.key} {...props} node={child} />
          ))}
        </ul>
      )}
    </li>
  );
}

/** A left path is shown inside its session. */
function hrefOf({ tip: { session, tip } }: BranchNode): string {
  return tip === null ? sessionHref(session) : messageHref(session, tip);
}
