import { RECAP_LEVELS, type RecapLevel, type ResumeReport } from '../api/resume';
import type { Session } from '../api/sessions';
import { relativeTo } from '../lib/paths';
import { revealInvisible } from '../lib/sanitize';
import type { BrowserStorage } from '../lib/storage';

/** Milliseconds of silence after which a recap is shown. */
export const AWAY_MS = 30 * 60 * 1000;

const KEY = 'recap';

/** Whether this session has been idle for long enough to show a recap. */
export function isCold(session: Pick<Session, 'modified' | 'state'>, now: number): boolean {
  if (session.state !== 'idle') return false;
  const then = session.modified === null ? Number.NaN : Date.parse(session.modified);
  return now - then > AWAY_MS;
}

/** The recap level that this browser knows; null where none was chosen. */
export function readRecapLevel(storage: BrowserStorage): RecapLevel | null {
  const stored = storage.read(KEY);
  return RECAP_LEVELS.find((level) => level === stored) ?? null;
}

export function writeRecapLevel(storage: BrowserStorage, level: RecapLevel): void {
  storage.write(KEY, level);
}

const MAX_CARRIED = 12;

/** A prompt that hands an old session over to a new one: state, decisions, open items. */
export function handoverPrompt(report: ResumeReport, workdir: string | null): string {
  const { decisions, open, files, next } = report;
  const parts = [
    `This goes on from an earlier session. ${report.quick}`,
    carried(
      'Decided there',
      decisions.map(
        ({ about, decision, reason }) => `${about}: ${decision}${reason ? ` (${reason})` : ''}`,
      ),
    ),
    carried('Still to do', open),
    carried(
      'Files changed there',
      files.map(({ path }) => relativeTo(path, workdir)),
    ),
    'Much may have changed since: look at how things are now before you change anything.',
    next.prompt ?? '',
  ];
  // it is sent as the person's own message: nothing in it may be invisible
  return revealInvisible(parts.filter(Boolean).join('\n\n'));
}

function carried(title: string, lines: readonly string[]): string {
  const last = lines.slice(-MAX_CARRIED);
  return last.length === 0 ? '' : `${title}:\n${last.map((line) => `- ${line}`).join('\n')}`;
}
