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
  /** Whether it is known what was chosen in other browsers. */
  isLevelKnown: boolean;
  /** Whether the conversation was shown before it: then it may not push what is being read. */
  late: boolean;
  /** Whether the request for it failed. */
  failed: boolean;
  again(): void;
  /** Whether the conversation is to be shown without waiting any longer. */
  ready: boolean;
  /** How often it was requested by a spoken action. */
  called: number;
  call(level: RecapLevel): void;
  /** Whether what stands below it is, too; whoever has to wait for the rest can type meanwhile. */
  footed: boolean;
}

/**
 * What whoever comes back is told. It is asked for beside the conversation, and both are shown at
 * once: a card that came later would push away what is being read. Where it takes too long, a line
 * is kept for it from the beginning.
 */
export function useRecap(
  { api, storage }: AppStore,
  session: Session,
  loaded: boolean,
): RecapState {
  // as it was when it was opened: what is said from now on is no reason to tell it all
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

  const footed = useDelayed(FOOT_MS);
  const waits = cold && !(isLevelKnown && answered);
  useEffect(() => {
    if (!waits || !loaded) return;
    const timer = setTimeout(() => setLate(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [waits, loaded]);

  function choose(chosen: RecapLevel): void {
    writeRecapLevel(storage, chosen);
    // a keeper that cannot be reached is no reason not to tell it
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
    footed: !waits || late || footed,
  };
}
