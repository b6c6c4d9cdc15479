import { useEffect, useState } from 'preact/hooks';
import type { Api } from '../api/client';
import { TELLINGS, type Telling } from '../api/resume';
import type { Session } from '../api/sessions';
import type { NewSessionPreset } from '../newSession/store';
import { handoverPrompt } from './preference';
import { RecapCard } from './RecapCard';
import { StartAfresh } from './StartAfresh';
import type { RecapState } from './useRecap';
import './recap.css';

export interface RecapProps {
  api: Pick<Api, 'recap'>;
  session: Session;
  recap: RecapState;
  /** Whether there is something else to look at now. */
  quiet: boolean;
  /** Puts words into the composer. */
  onPrompt(text: string): void;
  /** Offers to begin anew instead. */
  onFresh(fresh: NewSessionPreset): void;
}

const WORDS: Readonly<Record<Telling, string>> = {
  detailed: 'Detailed',
  quick: 'Quick',
  dive: 'Dive right in',
};

/** The recap for a person who comes back to a session after a while. */
export function Recap({ api, session, recap, quiet, onPrompt, onFresh }: RecapProps) {
  const { cold, telling, standing, isLevelKnown } = recap;
  const [closed, setClosed] = useState(false);
  const [opened, setOpened] = useState(false);
  useEffect(() => {
    if (recap.called > 0) setClosed(telling === 'dive');
  }, [recap.called]);
  useEffect(() => {
    // what was asked for in words is over when one goes on
    if (quiet && recap.called > 0) setClosed(true);
  }, [quiet]);
  const quietly = quiet && recap.called === 0;
  const line = cold && recap.late && !opened && !closed && !quietly;
  const back = cold && !closed && !quietly && isLevelKnown && !line;
  const isShown = back && telling !== 'dive';

  useEffect(() => {
    if (!isShown) return;
    function onKeyDown(event: KeyboardEvent): void {
      if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing) return;
      const at = event.target;
      if (at instanceof HTMLElement && at.closest('dialog, .sidebar, .find')) return;
      event.preventDefault();
      setClosed(true);
    }
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [isShown]);

  function choose(chosen: Telling): void {
    recap.choose(chosen);
    if (chosen === 'dive') setClosed(true);
  }

  if (line) {
    const open = () => {
      setOpened(true);
      // what is not as it was is said to those as well who want no recap
      if (telling === 'dive' && !standing?.fresh) choose('quick');
    };
    return <Late recap={recap} onOpen={open} />;
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
        text: handoverPrompt(standing, session.workdir),
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
            <StartAfresh warnings={standing.warnings} {...anew} />
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

/** One line that was there before it was known what it says: to see all of it moves things. */
function Late({ recap, onOpen }: { recap: RecapState; onOpen(): void }) {
  const { standing, telling, failed } = recap;
  const words =
    telling === 'dive' ? standing?.fresh && standing.warnings.join(' ') : standing?.quick;
  return (
    <p class="returning-late">
      <span dir="auto">{failed ? 'It could not be told where things stand.' : words}</span>
      <button
        type="button"
        class="quiet"
        disabled={standing === null && !failed}
        onClick={failed ? recap.again : onOpen}
      >
        {failed ? 'Try again' : 'Where were we?'}
      </button>
    </p>
  );
}
