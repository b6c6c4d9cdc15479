import type { RefObject } from 'preact';
import { useImperativeHandle, useMemo, useRef } from 'preact/hooks';
import { HEADING_HEIGHT, ROW_HEIGHT, visibleSections } from '../state/layout';
import { outlineOf } from '../state/outline';
import type { Project } from '../state/projects';
import { count } from '../state/words';
import { useNow } from '../ui/useNow';
import { SessionRow } from './SessionRow';
import { useListScroll } from './useListScroll';
import { useRowFocus } from './useRowFocus';
import './session-list.css';

export interface ListHandle {
  focusFirst(): void;
}

export interface SessionListProps {
  projects: readonly Project[];
  query: string;
  selectedId: string | null;
  handle: RefObject<ListHandle | null>;
}

/** Sessions by project. However many there are, only those in sight are drawn. */
export function SessionList({ projects, query, selectedId, handle }: SessionListProps) {
  const box = useRef<HTMLDivElement>(null);
  const now = useNow(20_000);
  const outline = useMemo(() => outlineOf(projects), [projects]);
  const scroll = useListScroll(box, outline, query, selectedId);
  const focus = useRowFocus(box, outline, scroll.show);
  useImperativeHandle(handle, () => ({ focusFirst: focus.focusFirst }));

  const drawn = visibleSections(outline.layout, scroll.top, scroll.height).flatMap((visible) => {
    const project = projects[visible.index];
    const place = outline.layout.sections[visible.index];
    if (!project || !place) return [];
    return {
      project,
      place,
      first: visible.first,
      rows: project.sessions.slice(visible.first, visible.end),
    };
  });
  const drawnIds = drawn.flatMap((section) => section.rows.map((session) => session.id));
  const tabStop = [focus.cursor, selectedId].find((id) => id !== null && drawnIds.includes(id));

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys are passed on from the links inside
    <div
      class="list"
      ref={box}
      tabIndex={-1}
      onScroll={scroll.onScroll}
      onKeyDown={focus.onKeyDown}
    >
      <div class="list-inner" style={{ height: `${outline.layout.height}px` }}>
        {drawn.map(({ project, place, first, rows }) => (
          <section
            key={project.key}
            class="section"
            aria-label={project.label}
            style={{ top: `${place.top}px`, height: `${place.height}px` }}
          >
            <h2
              class="section-heading"
              title={project.path ?? undefined}
              style={{ height: `${HEADING_HEIGHT}px` }}
            >
              <bdi>{project.label}</bdi>
              {project.parent !== null && <bdi class="section-parent">{project.parent}</bdi>}
              <span class="section-count">{count(project.sessions.length)}</span>
            </h2>
            <ul class="section-rows" style={{ paddingTop: `${first * ROW_HEIGHT}px` }}>
              {rows.map((session, index) => (
                <li
                  key={session.id}
                  aria-setsize={project.sessions.length}
                  aria-posinset={first + index + 1}
                >
                  <SessionRow
                    session={session}
                    now={now}
                    selected={session.id === selectedId}
                    tabStop={session.id === (tabStop ?? drawnIds[0])}
                    onFocus={focus.onRowFocus}
                  />
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </div>
  );
}
