import type { Session } from '../api/sessions';
import type { SessionSection } from './groupByProject';

const DAY = 24 * 3600 * 1000;
const MONTH = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric' });

interface Span {
  key: string;
  label: string;
}

/** Under headings of time, as far apart as memory has them; `sessions` are newest first already. */
export function groupByTime(sessions: readonly Session[], now: number): SessionSection[] {
  const sections: SessionSection[] = [];
  const today = new Date(now).setHours(0, 0, 0, 0);
  for (const session of sessions) {
    const { key, label } = spanOf(session.modified, today);
    let section = sections.at(-1);
    if (section?.key !== key) {
      section = { key, label, parent: null, path: null, sessions: [] };
      sections.push(section);
    }
    section.sessions.push(session);
  }
  return sections;
}

function spanOf(modified: string | null, today: number): Span {
  const then = modified === null ? Number.NaN : Date.parse(modified);
  if (Number.isNaN(then)) return { key: 'unknown', label: 'No known time' };
  // a day may have 23 or 25 hours: what was yesterday is told by the calendar
  if (then >= today) return { key: 'today', label: 'Today' };
  if (then >= new Date(today - DAY / 2).setHours(0, 0, 0, 0)) {
    return { key: 'yesterday', label: 'Yesterday' };
  }
  if (then >= today - 7 * DAY) return { key: 'week', label: 'Last seven days' };
  if (then >= today - 30 * DAY) return { key: 'month', label: 'Last thirty days' };
  const month = MONTH.format(then);
  return { key: month, label: month };
}
