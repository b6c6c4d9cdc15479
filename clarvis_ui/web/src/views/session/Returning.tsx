import { useEffect, useState } from 'preact/hooks';
import type { Clarvis } from '../../state/clarvis';
import {
  chosenTelling,
  isCold,
  rememberTelling,
  TELLINGS,
  type Telling,
} from '../../state/returning';
import type { Standing } from '../../transport/returning';
import type { Session } from '../../transport/wire';
import { RecapCard } from './RecapCard';
import './returning.css';

export interface ReturningProps {
  clarvis: Clarvis;
  session: Session;
  /** Whether there is something else to look at now. */
  quiet: boolean;
  /** Puts words into the composer. */
  onPrompt(text: string): void;
}

const WORDS: Readonly<Record<Telling, string>> = {
  detailed: 'Detailed',
  quick: 'Quick',
  dive: 'Dive right in',
};

/** For whoever comes back to a session after a while: where were we? */
export function Returning({ clarvis, session, quiet, onPrompt }: ReturningProps) {
  const { api, memory } = clarvis;
  // as it was when it was opened: what is said from now on is no reason to tell it all
  const [cold] = useState(() => isCold(session, Date.now()));
  const [telling, setTelling] = useState<Telling | null>(() => chosenTelling(memory));
  const [standing, setStanding] = useState<Standing | null>(null);
  const [closed, setClosed] = useState(false);
  const shown = cold && !closed && !quiet && telling !== 'dive';

  useEffect(() => {
    if (!shown || standing !== null) return;
    const leaving = new AbortController();
    void api.resume(session.id, leaving.signal).then((outcome) => {
      if (outcome.ok && !leaving.signal.aborted) setStanding(outcome.value);
    });
    return () => leaving.abort();
  }, [api, session.id, shown, standing]);

  useEffect(() => {
    if (!shown) return;
    function onKeyDown(event: KeyboardEvent): void {
      if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing) return;
      const at = event.target;
      if (at instanceof HTMLElement && at.closest('dialog, .sidebar, .find')) return;
      event.preventDefault();
      setClosed(true);
    }
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [shown]);

  function choose(chosen: Telling): void {
    rememberTelling(memory, chosen);
    setTelling(chosen);
    if (chosen === 'dive') setClosed(true);
  }

  if (!shown || standing === null) {
    const back = cold && telling === 'dive' && !quiet && !closed;
    return back ? (
      <p class="returning-again">
        <button type="button" class="quiet" onClick={() => choose('quick')}>
          Where were we?
        </button>
      </p>
    ) : null;
  }
  return (
    <section class="returning" aria-label="Where were we">
      <header>
        <h2>Where were we?</h2>
        <fieldset class="returning-choice">
          <legend class="spoken">How much to tell</legend>
          {TELLINGS.map((one) => (
            <button
              key={one}
              type="button"
              class="quiet"
              aria-pressed={telling === one}
              aria-keyshortcuts={one === 'dive' ? 'Escape' : undefined}
              onClick={() => choose(one)}
            >
              {WORDS[one]}
            </button>
          ))}
        </fieldset>
      </header>
      <RecapCard
        standing={standing}
        detailed={telling === 'detailed'}
        workdir={session.workdir}
        onPrompt={(text) => {
          setClosed(true);
          onPrompt(text);
        }}
        onRetell={() => api.recap(session.id)}
      />
    </section>
  );
}
