import { useEffect, useState } from 'preact/hooks';
import type { Api } from '../api/client';
import { RECAP_LEVELS, type RecapLevel } from '../api/resume';
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

const WORDS: Readonly<Record<RecapLevel, string>> = {
  detailed: 'Detailed',
  quick: 'Quick',
  dive: 'Dive right in',
};

/** The recap for a person who comes back to a session after a while. */
export function Recap({ api, session, recap, quiet, onPrompt, onFresh }: RecapProps) {
  const { cold, level, report, isLevelKnown } = recap;
  const [closed, setClosed] = useState(false);
  const [opened, setOpened] = useState(false);
  useEffect(() => {
    if (recap.called > 0) setClosed(level === 'dive');
  }, [recap.called]);
  useEffect(() => {
    // a recap that was requested by words closes with the next turn
    if (quiet && recap.called > 0) setClosed(true);
  }, [quiet]);
  const quietly = quiet && recap.called === 0;
  const line = cold && recap.late && !opened && !closed && !quietly;
  const back = cold && !closed && !quietly && isLevelKnown && !line;
  const isOpen = back && level !== 'dive';

  useEffect(() => {
    if (!isOpen) return;
    function onKeyDown(event: KeyboardEvent): void {
      if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing) return;
      const at = event.target;
      if (at instanceof HTMLElement && at.closest('dialog, .sidebar, .find')) return;
      event.preventDefault();
      setClosed(true);
    }
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [isOpen]);

  function choose(chosen: RecapLevel): void {
    recap.choose(chosen);
    if (chosen === 'dive') setClosed(true);
  }

  if (line) {
    const open = () => {
      setOpened(true);
      // warnings are shown even without a recap
      if (level === 'dive' && !report?.fresh) choose('quick');
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
      if (report === null) return;
      onFresh({
        workdir: report.gone ? null : session.workdir,
        text: handoverPrompt(report, session.workdir),
        model: session.model,
        mode: session.permissionMode,
      });
    },
  };
  if (level === 'dive') {
    return (
      <>
        {/* whoever wants no recap has to know all the same what is not as it was */}
        {report?.fresh && (
          <section class="returning" aria-label="Before you go on">
            <StartAfresh warnings={report.warnings} {...anew} />
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
  if (report === null) return null;
  return (
    <section class="returning" aria-label="Where were we">
      <header>
        <h2>Where were we?</h2>
        <fieldset class="returning-choice">
          <legend class="spoken">How much to tell</legend>
          {RECAP_LEVELS.map((one) => (
            <button
              key={one}
              type="button"
              class="quiet"
              aria-pressed={level === one}
              aria-keyshortcuts={one === 'dive' ? 'Escape' : undefined}
              onClick={() => choose(one)}
            >
              {WORDS[one]}
            </button>
          ))}
        </fieldset>
      </header>
      <RecapCard
        report={report}
        detailed={level === 'detailed'}
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

/** The reserved line of a late recap. Only a click expands it, because that moves the page. */
function Late({ recap, onOpen }: { recap: RecapState; onOpen(): void }) {
  const { report, level, failed } = recap;
  const words = level === 'dive' ? report?.fresh && report.warnings.join(' ') : report?.quick;
  return (
    <p class="returning-late">
      <span dir="auto">{failed ? 'It could not be told where things stand.' : words}</span>
      <button
        type="button"
        class="quiet"
        disabled={report === null && !failed}
        onClick={failed ? recap.again : onOpen}
      >
        {failed ? 'Try again' : 'Where were we?'}
      </button>
    </p>
  );
}
