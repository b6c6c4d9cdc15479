import { useEffect, useState } from 'preact/hooks';
import type { RecapLevel, ResumeReport } from '../api/resume';
import type { Session } from '../api/sessions';
import type { AppStore } from '../app/store';
import { useDelayed } from '../ui/useDelayed';
import { useAbortableEffect } from '../ui/useRequest';
import { isCold, readRecapLevel, writeRecapLevel } from './preference';

/** Milliseconds for which a loaded conversation waits for its recap. */
const PATIENCE_MS = 150;
/** Milliseconds after which one may begin to type. */
const FOOT_MS = 300;

export interface RecapState {
  /** Whether the session has been idle for a while. */
  cold: boolean;
  /** The chosen recap level; null where none was chosen. */
  level: RecapLevel | null;
  choose(level: RecapLevel): void;
  report: ResumeReport | null;
  /** Whether the level chosen in other browsers is loaded. */
  isLevelKnown: boolean;
  /** Whether the conversation appeared first: then the recap must not move it. */
  late: boolean;
  /** Whether the request for it failed. */
  failed: boolean;
  again(): void;
  /** Whether the conversation is to be shown without waiting any longer. */
  ready: boolean;
  /** How often it was requested by a spoken action. */
  called: number;
  call(level: RecapLevel): void;
  /** Whether the footer is visible. It comes early, so that the person can type meanwhile. */
  isFooterReady: boolean;
}

/**
 * Loads the recap of a session that was idle for a while, in parallel to the conversation. Both
 * appear together, because a later card would move the text under the reader. If the recap takes
 * too long, the page reserves a line for it.
 */
export function useRecap(
  { api, storage }: AppStore,
  session: Session,
  loaded: boolean,
): RecapState {
  // as of opening: later messages start no recap
  const [cold] = useState(() => isCold(session, Date.now()));
  const [called, setCalled] = useState(0);
  const [level, setLevel] = useState<RecapLevel | null>(() => readRecapLevel(storage));
  const [report, setReport] = useState<ResumeReport | null>(null);
  const [isLevelKnown, setKnown] = useState(false);
  const [answered, setAnswered] = useState(false);
  const [late, setLate] = useState(false);
  const [tries, setTries] = useState(0);

  useAbortableEffect(
    (signal) => {
      if (!cold && called === 0) return;
      void api.recapLevel().then((outcome) => {
        if (signal.aborted) return;
        const chosen = outcome.ok ? outcome.value.level : null;
        if (chosen !== null && called === 0) {
          writeRecapLevel(storage, chosen);
          setLevel(chosen);
        }
        setKnown(true);
      });
      void api.resume(session.id, signal).then((outcome) => {
        if (signal.aborted) return;
        if (outcome.ok) setReport(outcome.value);
        setAnswered(true);
      });
    },
    [api, storage, session.id, cold, called, tries],
  );

  const hasWaited = useDelayed(FOOT_MS);
  const waits = cold && !(isLevelKnown && answered);
  useEffect(() => {
    if (!waits || !loaded) return;
    const timer = setTimeout(() => setLate(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [waits, loaded]);

  function choose(chosen: RecapLevel): void {
    writeRecapLevel(storage, chosen);
    // without the keeper the level still holds in this browser
    void api.prefer(chosen);
    setLevel(chosen);
  }

  return {
    cold: cold || called > 0,
    level,
    choose,
    called,
    call(wanted) {
      choose(wanted);
      if (wanted !== 'dive' || cold) setCalled((before) => before + 1);
    },
    report,
    isLevelKnown,
    late: late && called === 0,
    failed: answered && report === null,
    again() {
      setAnswered(false);
      setTries((before) => before + 1);
    },
    ready: !waits || late,
    isFooterReady: !waits || late || hasWaited,
  };
}
