import type { Api } from '../api/client';
import { success } from '../api/result';
import type { Session } from '../api/sessions';
import { useRequest } from '../ui/useRequest';
import { decisionsAbout, keyWords, type Quotation, quotation, quotesOf } from './quotedDecisions';
import { type SpokenAction, spokenActionOf } from './spokenActions';

// after this pause of typing the request is sent
const PAUSE_MS = 250;
const MAX_HITS = 20;

/** The spoken action in the draft, if there is one, and the decisions that it asks for. */
export interface DetectedAction {
  action: SpokenAction;
  /** Null while it is looked for, or where something else is meant. */
  quotation: Quotation | null;
}

export function useSpokenAction(
  api: Pick<Api, 'resume' | 'search'>,
  session: Session,
  words: string,
  isOnlyText: boolean,
): DetectedAction | null {
  const action = isOnlyText ? spokenActionOf(words) : null;
  const about = action?.kind === 'decided' ? action.about : null;
  const { value } = useRequest(
    about === null
      ? null
      : async (signal) =>
          success({ about, quotation: await searchDecisions(api, session, about, signal) }),
    [api, session.id, session.workdir, about],
    PAUSE_MS,
  );
  if (action === null) return null;
  return { action, quotation: value?.about === about ? value.quotation : null };
}

async function searchDecisions(
  api: Pick<Api, 'resume' | 'search'>,
  { id, workdir }: Session,
  about: string,
  signal: AbortSignal,
): Promise<Quotation> {
  const words = keyWords(about).join(' ');
  const [report, search] = await Promise.all([
    api.resume(id, signal),
    api.search({ words, kind: 'decision', workdir, best: true }, null, signal, MAX_HITS),
  ]);
  // without an answer there are no decisions; the question can still be sent
  const all = report.ok ? report.value.decisions : [];
  const hits = search.ok ? search.value.hits : [];
  return quotation(about, quotesOf(id, decisionsAbout(all, about), all, hits));
}
