import type { Api } from '../api/client';
import { success } from '../api/result';
import type { Session } from '../api/sessions';
import { useRequest } from '../ui/useRequest';
import {
  decisionsAbout,
  type Quotation,
  quotation,
  quotesOf,
  tellingWords,
} from './quotedDecisions';
import { type SpokenAction, spokenActionOf } from './spokenActions';

// after this pause one reads what it says
const PAUSE_MS = 250;
const MOST_HITS = 20;

/** What the words in the field mean, if they mean a button, and what was decided where they ask. */
export interface DetectedAction {
  asked: SpokenAction;
  /** Null while it is looked for, or where something else is meant. */
  found: Quotation | null;
}

export function useSpokenAction(
  api: Pick<Api, 'resume' | 'search'>,
  session: Session,
  words: string,
  bare: boolean,
): DetectedAction | null {
  const asked = bare ? spokenActionOf(words) : null;
  const about = asked?.kind === 'decided' ? asked.about : null;
  const { value } = useRequest(
    about === null
      ? null
      : async (signal) =>
          success({ about, quotation: await decidedAbout(api, session, about, signal) }),
    [api, session.id, session.workdir, about],
    PAUSE_MS,
  );
  if (asked === null) return null;
  return { asked, found: value?.about === about ? value.quotation : null };
}

async function decidedAbout(
  api: Pick<Api, 'resume' | 'search'>,
  { id, workdir }: Session,
  about: string,
  signal: AbortSignal,
): Promise<Quotation> {
  const words = tellingWords(about).join(' ');
  const [standing, found] = await Promise.all([
    api.resume(id, signal),
    api.search({ words, kind: 'decision', workdir, best: true }, null, signal, MOST_HITS),
  ]);
  // what cannot be asked for is not found: the question can be sent all the same
  const all = standing.ok ? standing.value.decisions : [];
  const hits = found.ok ? found.value.hits : [];
  return quotation(about, quotesOf(id, decisionsAbout(all, about), all, hits));
}
