import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { BranchPage, BranchWork, Tip } from '../api/branches';
import type { Message } from '../api/messages';
import { branchesHref, type ComparedBranches, comparedHref, sessionHref } from '../app/routes';
import type { AppStore } from '../app/store';
import { counted } from '../lib/format';
import { forkAndOpen } from '../session/fork';
import { titleOf } from '../sessions/labels';
import { rowsOf } from '../thread/rows/rows';
import { Icon } from '../ui/Icon';
import { useDelayed } from '../ui/useDelayed';
import { useAbortableEffect } from '../ui/useRequest';
import { BranchColumn } from './BranchColumn';
import { BranchMessages } from './BranchMessages';
import { carryOverPrompt, withCarryOver } from './carryOverPrompt';
import { FileChanges } from './FileChanges';
import { allNodes, type BranchNode, didNothing, kindWords, sessionChangeKey, tipKey } from './tree';
import './comparison.css';

export interface ComparisonProps {
  app: AppStore;
  compared: ComparedBranches;
  /** The nodes, for their names; null until they are loaded. */
  nodes: readonly BranchNode[] | null;
}

// new messages are loaded after a pause
const PAUSE_MS = 1000;

interface Side {
  first: BranchPage;
  work: BranchWork;
}

/** Two branches compared since they separated: messages and files. */
export function Comparison({ app, compared, nodes }: ComparisonProps) {
  const { one, other } = compared;
  const { sides, problem } = useComparedBranches(app, compared);
  const [refused, setRefused] = useState('');
  const late = useDelayed(200);
  const names = useMemo(
    () =>
      [
        nameOf(app, nodes, one, sides?.[0].first),
        nameOf(app, nodes, other, sides?.[1].first),
      ] as const,
    [app, nodes, one, other, sides],
  );
  const pair = useRef<HTMLDivElement>(null);
  const [visibleSide, setShown] = useVisibleSide(pair);

  async function bring(from: 0 | 1): Promise<void> {
    if (sides === null) return;
    const [source, target] = from === 0 ? [sides[0], sides[1]] : [sides[1], sides[0]];
    const into = from === 0 ? other : one;
    const session = app.sessions.listing.value.sessions.get(into.session);
    const prompt = carryOverPrompt({
      title: names[from],
      from: source.work,
      into: target.work,
      workdir: session?.workdir ?? null,
    });
    if (into.tip !== null) {
      // a path that was left cannot be gone on with where it is
      setRefused(await forkAndOpen(app, into.session, into.tip, prompt));
      return;
    }
    const draft = app.drafts.read(into.session);
    app.drafts.write(into.session, { ...draft, text: withCarryOver(draft.text, prompt) });
    location.hash = sessionHref(into.session);
  }

  if (problem) {
    return (
      <p class="branches-problem" role="alert">
        {problem} <a href={branchesHref(one.session)}>All branches</a>
      </p>
    );
  }
  if (sides === null) return late ? <p class="branches-wait">Reading both…</p> : null;
  const [oneSide, otherSide] = sides;
  return (
    <div class="branches-log compared">
      <nav class="compared-nav" aria-label="What is compared">
        <a href={branchesHref(one.session)}>All branches</a>
        <a href={comparedHref({ one: other, other: one })}>Swap sides</a>
      </nav>
      <Past app={app} compared={compared} shared={oneSide.first.shared} />
      <p class="branches-problem" role="alert">
        {refused}
      </p>
      <fieldset class="compared-switch">
        <legend class="spoken">Which of the two</legend>
        {([0, 1] as const).map((side) => (
          <button
            key={side}
            type="button"
            class="quiet"
            aria-pressed={visibleSide === side}
            onClick={() => setShown(side)}
          >
            <bdi>{names[side]}</bdi>
          </button>
        ))}
      </fieldset>
      <div class="compared-pair" ref={pair}>
        {([0, 1] as const).map((side) => {
          const [mine, theirs] = side === 0 ? [one, other] : [other, one];
          return (
            <BranchColumn
              key={side}
              app={app}
              one={mine}
              other={theirs}
              title={names[side]}
              kind={kindOf(nodes, mine)}
              first={sides[side].first}
              bringing={didNothing(sides[side].work) ? null : bringWords(theirs)}
              onBring={() => void bring(side)}
            />
          );
        })}
      </div>
      <FileChanges
        one={oneSide.work}
        other={otherSide.work}
        names={names}
        workdir={app.sessions.listing.value.sessions.get(one.session)?.workdir ?? null}
      />
    </div>
  );
}

function kindOf(nodes: readonly BranchNode[] | null, tip: Tip): string {
  const node = allNodes(nodes ?? []).find(({ key }) => key === tipKey(tip));
  if (node) return kindWords(node);
  return tip.tip === null ? 'As it stands' : 'Left by going back';
}

function bringWords(into: Tip): string {
  return into.tip === null
    ? 'Bring the decision over'
    : 'Bring the decision over, into a fork of the other';
}

function useComparedBranches(app: AppStore, { one, other }: ComparedBranches) {
  const { api } = app;
  const [sides, setSides] = useState<readonly [Side, Side] | null>(null);
  const [problem, setProblem] = useState('');
  const [reading, setReading] = useState(true);
  const changes = useChangeCount(app, one, other, reading);
  useAbortableEffect(
    (signal) => {
      setReading(true);
      const read = async (mine: Tip, theirs: Tip): Promise<Side | string> => {
        const [first, work] = await Promise.all([
          api.branch(mine, theirs, null, signal),
          api.branchWork(mine, theirs, signal),
        ]);
        if (!first.ok) return first.failure.sentence;
        return work.ok ? { first: first.value, work: work.value } : work.failure.sentence;
      };
      void Promise.all([read(one, other), read(other, one)]).then(([oneSide, otherSide]) => {
        if (signal.aborted) return;
        setReading(false);
        if (typeof oneSide !== 'string' && typeof otherSide !== 'string') {
          setSides([oneSide, otherSide]);
          setProblem('');
        } else if (sides === null)
          setProblem(typeof oneSide === 'string' ? oneSide : String(otherSide));
        // otherwise the loaded sides stay until the next answer
      });
    },
    [api, tipKey(one), tipKey(other), changes],
  );
  return { sides, problem };
}

/** Changes when one of them has new messages and the last request is done. */
function useChangeCount({ sessions }: AppStore, one: Tip, other: Tip, reading: boolean): number {
  const newestKey = sessionChangeKey([one.session, other.session], sessions.listing.value.sessions);
  const [changes, setChanges] = useState({ newestKey, count: 0 });
  const [waits, setWaits] = useState(false);
  const late = newestKey !== changes.newestKey;
  useEffect(() => {
    if (late && !waits && !reading) setWaits(true);
  }, [late, waits, reading]);
  const newest = useRef(newestKey);
  newest.current = newestKey;
  useEffect(() => {
    if (!waits) return;
    const timer = setTimeout(() => {
      setWaits(false);
      setChanges(({ count }) => ({ newestKey: newest.current, count: count + 1 }));
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [waits]);
  return changes.count;
}

/** The messages that both have, collapsed, read from the end upwards. */
function Past({
  app,
  compared: { one, other },
  shared,
}: {
  app: AppStore;
  compared: ComparedBranches;
  shared: number;
}) {
  const [open, setOpen] = useState(false);
  const [messages, setMessages] = useState<readonly Message[]>([]);
  const [before, setBefore] = useState<string | null>(null);
  const [problem, setProblem] = useState('');

  async function more(): Promise<void> {
    const outcome = await app.api.commonPast(one, other, before);
    setProblem(outcome.ok ? '' : outcome.failure.sentence);
    if (!outcome.ok) return;
    setMessages([...outcome.value.messages, ...messages]);
    setBefore(outcome.value.before);
  }

  if (shared === 0) {
    return <p class="compared-past">These two have nothing in common: each is shown whole.</p>;
  }
  return (
    <section class="compared-past" aria-label="What both have in common">
      <button
        type="button"
        class="quiet"
        aria-expanded={open}
        onClick={() => {
          setOpen(!open);
          if (!open && messages.length === 0) void more();
        }}
      >
        <Icon name="unfold" size={12} /> {counted(shared, 'message')} in common
      </button>
      {open && (
        <div class="compared-common">
          {before !== null && (
            <button type="button" class="quiet" onClick={() => void more()}>
              Show earlier ones
            </button>
          )}
          <BranchMessages app={app} sessionId={one.session} messages={messages} />
        </div>
      )}
      <p class="branches-problem" role="alert">
        {problem}
      </p>
    </section>
  );
}

/** On a phone one of the two is visible, chosen by buttons or by a swipe. */
function useVisibleSide(pair: { current: HTMLDivElement | null }) {
  const [visibleSide, setShown] = useState<0 | 1>(0);
  useEffect(() => {
    const box = pair.current;
    if (!box) return;
    const onScroll = () => setShown(Math.abs(box.scrollLeft) > box.clientWidth / 2 ? 1 : 0);
    box.addEventListener('scroll', onScroll, { passive: true });
    return () => box.removeEventListener('scroll', onScroll);
  });
  function show(side: 0 | 1): void {
    setShown(side);
    pair.current?.children[side]?.scrollIntoView({ block: 'nearest', inline: 'start' });
  }
  return [visibleSide, show] as const;
}

function nameOf(
  app: AppStore,
  nodes: readonly BranchNode[] | null,
  tip: Tip,
  first: BranchPage | undefined,
): string {
  const node = allNodes(nodes ?? []).find(({ key }) => key === tipKey(tip));
  if (node) return node.first ?? node.title;
  const prompt = tip.tip === null ? '' : firstPrompt(first?.messages ?? []);
  const session = app.sessions.listing.value.sessions.get(tip.session);
  return prompt || (session ? titleOf(session) : 'The other');
}

function firstPrompt(messages: readonly Message[]): string {
  const rows = rowsOf(messages, { running: false, hasOlder: true });
  return rows.find((row) => row.kind === 'prompt')?.text ?? '';
}
