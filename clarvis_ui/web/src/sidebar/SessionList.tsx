import type { RefObject } from 'preact';
import { useImperativeHandle, useMemo, useRef, useState } from 'preact/hooks';
import type { Outcome } from '../api/result';
import type { Session } from '../api/sessions';
import { timelineHref } from '../app/routes';
import { count } from '../lib/format';
import type { SessionSection } from '../sessions/groupByProject';
import type { LiveState } from '../sessions/labels';
import { Icon } from '../ui/Icon';
import { HEADING_HEIGHT, listIndexOf, ROW_HEIGHT, visibleSections } from './listLayout';
import { RenameField } from './RenameField';
import { SessionRow } from './SessionRow';
import { useListScroll } from './useListScroll';
import { useRowFocus } from './useRowFocus';
import './session-list.css';

export interface ListHandle {
  focusFirst(): void;
}

export interface SessionListProps {
  sections: readonly SessionSection[];
  query: string;
  order: string;
  selectedId: string | null;
  /** Whether the headings are not the projects. */
  showProject: boolean;
  now: number;
  liveOf(session: Session): LiveState;
  onRename(id: string, name: string | null): Promise<Outcome<Session>>;
  handle: RefObject<ListHandle | null>;
}

/** Sessions under headings. However many there are, only those in sight are drawn. */
export function SessionList(props: SessionListProps) {
  const { sections, query, order, selectedId, showProject, now, liveOf, onRename, handle } = props;
  const box = useRef<HTMLDivElement>(null);
  const [naming, setNaming] = useState<string | null>(null);
  const index = useMemo(() => listIndexOf(sections), [sections]);
  const scroll = useListScroll(box, index, { query, order }, selectedId);
  const focus = useRowFocus(box, index, scroll.show);
  useImperativeHandle(handle, () => ({ focusFirst: focus.focusFirst }));

  const drawn = visibleSections(index.layout, scroll.top, scroll.height).flatMap((visible) => {
    const section = sections[visible.index];
    const layout = index.layout.sections[visible.index];
    if (!section || !layout) return [];
    return {
      section,
      layout,
      first: visible.first,
      rows: section.sessions.slice(visible.first, visible.end),
    };
  });
  const drawnIds = drawn.flatMap(({ rows }) => rows.map((session) => session.id));
  const tabStop = [focus.cursor, selectedId].find((id) => id !== null && drawnIds.includes(id));

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === 'F2' && focus.cursor !== null) setNaming(focus.cursor);
    else focus.onKeyDown(event);
  }

  function stopNaming(): void {
    const id = naming;
    setNaming(null);
    if (id !== null && box.current?.contains(document.activeElement)) focus.goTo(id);
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys are passed on from the links inside
    <div class="list" ref={box} tabIndex={-1} onScroll={scroll.onScroll} onKeyDown={onKeyDown}>
      <div class="list-inner" style={{ height: `${index.layout.height}px` }}>
        {drawn.map(({ section, layout, first, rows }) => (
          <section
            key={section.key}
            class="section"
            aria-label={section.label}
            style={{ top: `${layout.top}px`, height: `${layout.height}px` }}
          >
            <h2
              class="section-heading"
              title={section.path ?? undefined}
              style={{ height: `${HEADING_HEIGHT}px` }}
            >
              <bdi>{section.label}</bdi>
              {section.parent !== null && <bdi class="section-parent">{section.parent}</bdi>}
              <span class="section-count">{count(section.sessions.length)}</span>
              {section.path !== null && (
                <a
                  class="section-timeline"
                  href={timelineHref({ workdir: section.path })}
                  aria-label={`Timeline of ${section.label}`}
                  title="Timeline"
                >
                  <Icon name="timeline" size={14} />
                </a>
              )}
            </h2>
            <ul class="section-rows" style={{ paddingTop: `${first * ROW_HEIGHT}px` }}>
              {rows.map((session, index) => (
                <li
                  key={session.id}
                  aria-setsize={section.sessions.length}
                  aria-posinset={first + index + 1}
                >
                  {session.id === naming ? (
                    <RenameField
                      session={session}
                      onRename={(name) => onRename(session.id, name)}
                      onClose={stopNaming}
                    />
                  ) : (
                    <SessionRow
                      session={session}
                      live={liveOf(session)}
                      now={now}
                      selected={session.id === selectedId}
                      showProject={showProject}
                      tabStop={session.id === (tabStop ?? drawnIds[0])}
                      onFocus={focus.onRowFocus}
                      onRename={setNaming}
                    />
                  )}
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </div>
  );
}
