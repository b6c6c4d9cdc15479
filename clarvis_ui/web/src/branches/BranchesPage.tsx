import { useMemo, useState } from 'preact/hooks';
import type { Branches, Family } from '../api/branches';
import { WaitingLink } from '../app/BackButton';
import { type ComparedBranches, sessionHref } from '../app/routes';
import type { AppStore } from '../app/store';
import { titleOf } from '../sessions/labels';
import { Icon } from '../ui/Icon';
import { useAbortableEffect } from '../ui/useRequest';
import { BranchTree } from './BranchTree';
import { Comparison } from './Comparison';
import { familyChangeKey, treeOf } from './tree';
import '../app/page-head.css';
import '../attention/inbox.css';
import './branches.css';

export interface BranchesPageProps {
  app: AppStore;
  id: string;
  /** Two of them beside each other; null for the tree. */
  compared: ComparedBranches | null;
}

/** The branches of a session, as a tree or two compared. */
export function BranchesPage({ app, id, compared }: BranchesPageProps) {
  const { family, inside, problem } = useBranches(app, id);
  const nodes = useMemo(() => (family ? treeOf(id, family, inside) : null), [id, family, inside]);
  const session = app.sessions.listing.value.sessions.get(id);
  return (
    <div class="inbox branches">
      <header class="session-head">
        <a class="branches-back" href={sessionHref(id)} aria-label="Back to the conversation">
          <Icon name="back" />
        </a>
        <WaitingLink />
        <h1 class="branches-title">
          Branches
          {session && <bdi>{titleOf(session)}</bdi>}
        </h1>
      </header>
      <p class="branches-problem" role="alert">
        {problem}
      </p>
      {compared ? (
        <Comparison
          key={`${compared.one.tip}/${compared.other.session}/${compared.other.tip}`}
          app={app}
          compared={compared}
          nodes={nodes}
        />
      ) : (
        <BranchTree app={app} id={id} nodes={nodes} family={family} more={inside?.more ?? 0} />
      )}
    </div>
  );
}

interface LoadedBranches {
  family: Family | null;
  inside: Branches | null;
  problem: string;
}

// a running turn changes much: the branches are loaded again after a pause of this length
const PAUSE_MS = 1000;

function useBranches({ api, sessions }: AppStore, id: string): LoadedBranches {
  const [loaded, setLoaded] = useState<LoadedBranches>({ family: null, inside: null, problem: '' });
  const changeKey = familyChangeKey(id, loaded.family, sessions.listing.value.sessions);
  // requested again until the family is complete
  const unfinished = loaded.family && !loaded.family.complete ? loaded : null;
  useAbortableEffect(
    async (signal) => {
      setLoaded({ family: null, inside: null, problem: '' });
      const all = await load(api, id, signal);
      if (all) setLoaded(all);
    },
    [api, id],
  );
  useAbortableEffect(
    async (signal) => {
      // the first answer is still to come
      if (loaded.family === null && loaded.problem === '') return;
      const all = await load(api, id, signal);
      // what is shown stays until there is a better answer
      if (all && (all.problem === '' || loaded.family === null)) setLoaded(all);
    },
    [api, id, changeKey, loaded.problem, unfinished],
    PAUSE_MS,
  );
  return loaded;
}

async function load(
  api: AppStore['api'],
  id: string,
  leaving: AbortSignal,
): Promise<LoadedBranches | null> {
  const family = await api.family(id, leaving);
  const members = family.ok ? family.value.sessions : [];
  const forks = members.flatMap(({ parent, at }) => (parent === id && at !== null ? [at] : []));
  const inside = await api.branches(id, forks, leaving);
  if (leaving.aborted) return null;
  const failed = [family, inside].find((outcome) => !outcome.ok);
  return {
    family: family.ok ? family.value : null,
    inside: inside.ok ? inside.value : null,
    problem: failed && !failed.ok ? failed.failure.sentence : '',
  };
}
