import { useEffect, useState } from 'preact/hooks';
import type { Fresh } from '../../state/beginning';
import type { Clarvis } from '../../state/clarvis';
import { chosenTelling, isCold, primerOf, rememberTelling } from '../../state/returning';
import { type Standing, TELLINGS, type Telling } from '../../transport/returning';
import type { Session } from '../../transport/wire';
import { Anew } from './Anew';
import { RecapCard } from './RecapCard';
import './returning.css';

export interface ReturningProps {
  clarvis: Clarvis;
  session: Session;
  /** Whether there is something else to look at now. */
  quiet: boolean;
  /** Puts words into the composer. */
  onPrompt(text: string): void;
  /** Offers to begin anew instead. */
  onFresh(fresh: Fresh): void;
}

const WORDS: Readonly<Record<Telling, string>> = {
  detailed: 'Detailed',
  quick: 'Quick',
  dive: 'Dive right in',
};

/** For whoever comes back to a session after a while: where were we? */
export function Returning({ clarvis, session, quiet, onPrompt, onFresh }: ReturningProps) {
  const { api, memory } = clarvis;
  // as it was when it was opened: what is said from now on is no reason to tell it all
  const [cold] = useState(() => isCold(session, Date.now()));
  const [telling, setTelling] = useState<Telling | null>(() => chosenTelling(memory));
  const [standing, setStanding] = useState<Standing | null>(null);
  const [closed, setClosed] = useState(false);
  /** Whether it is known what was chosen in other browsers. */
  const [known, setKnown] = useState(false);
  const wanted = cold && !closed && !quiet;
  const back = wanted && known;
  const shown = back && telling !== 'dive';

  useEffect(() => {
    if (!cold) return;
    let here = true;
    void api.telling().then((outcome) => {
      if (!here) return;
      const chosen = outcome.ok ? outcome.value.telling : null;
      if (chosen !== null) {
        rememberTelling(memory, chosen);
        setTelling(chosen);
      }
      setKnown(true);
    });
    return () => {
      here = false;
    };
  }, [api, memory, cold]);

  useEffect(() => {
    // asked for at once, not after the other answer: what comes late pushes away what is read
    if (!wanted || standing !== null) return;
    const leaving = new AbortController();
    void api.resume(session.id, leaving.signal).then((outcome) => {
      if (outcome.ok && !leaving.signal.aborted) setStanding(outcome.value);
    });
    return () => leaving.abort();
  }, [api, session.id, wanted, standing]);

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
    // a keeper that cannot be reached is no reason not to tell it
    void api.prefer(chosen);
    setTelling(chosen);
    if (chosen === 'dive') setClosed(true);
  }

  if (!back) return null;
  const anew = {
    onResume() {
      setClosed(true);
      document.querySelector<HTMLElement>('.composer textarea')?.focus();
    },
    onFresh() {
      if (standing === null) return;
      onFresh({
        workdir: standing.gone ? null : session.workdir,
        text: primerOf(standing, session.workdir),
        model: session.model,
        mode: session.permissionMode,
      });
    },
  };
  if (telling === 'dive') {
    return (
      <>
        {/* whoever wants no recap has to know all the same what is not as it was */}
        {standing?.fresh && (
          <section class="returning" aria-label="Before you go on">
            <Anew warnings={standing.warnings} {...anew} />
          </section>
        )}
        <p class="returning-again">
          <button type="button" class="quiet" onClick={() => choose('quick')}>
            Where were we?
          </button>
        </p>
      </>
    );
  }
  if (standing === null) return null;
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
        {...anew}
      />
    </section>
  );
}
