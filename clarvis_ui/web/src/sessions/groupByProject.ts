import type { Session } from '../api/sessions';
import { titleOf } from './labels';

/** Sessions that stand under one heading, newest first: those of a project, or of a time. */
export interface SessionSection {
  key: string;
  label: string;
  /** What tells it from another project of the same name; null where there is none. */
  parent: string | null;
  path: string | null;
  sessions: Session[];
}

const NOWHERE = 'unknown directory';
// transcripts move between machines: a path may be of another system than this one
const SEPARATOR = /[\\/]/;
const LAST_PART = /[\\/][^\\/]*$/;

export function newestFirst(sessions: Iterable<Session>): Session[] {
  // ISO 8601 in UTC sorts as text; the id settles ties, so that no two renders differ
  return [...sessions].sort(
    (a, b) => descending(a.modified ?? '', b.modified ?? '') || descending(b.id, a.id),
  );
}

function descending(a: string, b: string): number {
  return a < b ? 1 : a > b ? -1 : 0;
}

/** Groups in the order of their newest session; `sessions` are newest first already. */
export function groupByProject(sessions: readonly Session[]): SessionSection[] {
  const projects = new Map<string, SessionSection>();
  const sharing = new Map<string, number>();
  for (const session of sessions) {
    const key = session.workdir ?? `?${session.project ?? ''}`;
    let project = projects.get(key);
    if (!project) {
      const label = projectOf(session);
      project = { key, label, parent: null, path: session.workdir, sessions: [] };
      projects.set(key, project);
      sharing.set(label, (sharing.get(label) ?? 0) + 1);
    }
    project.sessions.push(session);
  }
  const sections = [...projects.values()];
  for (const project of sections) {
    if ((sharing.get(project.label) ?? 0) > 1) project.parent = parentOf(project.path);
  }
  return sections;
}

export function projectOf(session: Session): string {
  return session.project ?? lastPart(session.workdir) ?? NOWHERE;
}

function lastPart(path: string | null): string | null {
  return path?.split(SEPARATOR).filter(Boolean).at(-1) ?? path;
}

function parentOf(path: string | null): string | null {
  return path === null ? null : path.replace(LAST_PART, '') || '/';
}

const searchable = new WeakMap<Session, string>();

function searchText(session: Session): string {
  let text = searchable.get(session);
  if (text === undefined) {
    text = [
      titleOf(session),
      session.title,
      session.firstPrompt,
      session.lastPrompt,
      session.project,
      session.workdir,
      session.gitBranch,
      session.model,
      session.id,
    ]
      .filter((part) => part !== null)
      .join('\n')
      .toLowerCase();
    searchable.set(session, text);
  }
  return text;
}

/** Those in which every word of the query occurs somewhere. */
export function matching(sessions: readonly Session[], query: string): readonly Session[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return sessions;
  return sessions.filter((session) => {
    const text = searchText(session);
    return words.every((word) => text.includes(word));
  });
}
