import type { Presence, Session } from '../api/sessions';
import { relativeTime } from '../lib/format';

/** Where a session runs that somebody else runs, and what it does there: as people say it. */

/** "in a terminal"; null where nobody else runs it. */
export function whereWords({ origin, presence }: Session): string | null {
  if (presence !== null) return placeOf(presence.entrypoint);
  return origin === 'terminal' ? 'in a terminal' : null;
}

const EDITORS = /vscode|jetbrains|cursor|zed|emacs|vim|ide|editor/i;

function placeOf(entrypoint: string): string {
  if (entrypoint === 'cli') return 'in a terminal';
  if (/^sdk/i.test(entrypoint)) return 'in a script';
  if (EDITORS.test(entrypoint)) return 'in an editor';
  if (/desktop/i.test(entrypoint)) return 'in the desktop app';
  return 'elsewhere';
}

/** What it waits for: "waits for permission". */
export function waitingWords(presence: Presence | null): string {
  const what = presence?.waitingFor ?? null;
  if (what === null) return 'waits for an answer';
  return /permission/i.test(what) ? 'waits for permission' : `waits for ${what}`;
}

/** " for 4 m", " since Mon"; nothing where it has only just begun or is not known. */
export function sinceWords(since: string | null, now: number): string {
  const ago = relativeTime(since, now);
  if (ago === '' || ago === 'now') return '';
  return / [mh]$/.test(ago) ? ` for ${ago}` : ` since ${ago}`;
}
