import { useEffect, useMemo } from 'preact/hooks';
import type { Session } from '../api/sessions';
import type { TimelineQuery } from '../api/timeline';
import { BackButton } from '../app/BackButton';
import { sessionHref, timelineHref } from '../app/routes';
import type { AppStore } from '../app/store';
import { count, money } from '../lib/format';
import { groupByProject } from '../sessions/groupByProject';
import { titled, titleOf } from '../sessions/labels';
import { BucketDetails } from './BucketDetails';
import { type Column, chosenAt, columnsOf, isNothing } from './columns';
import { Plot } from './Plot';
import { createTimelineStore, type TimelineStore } from './store';
import '../app/page-head.css';
import '../attention/inbox.css';
import './timeline.css';

const MAX_PROMPTS = 200;
// a running turn changes much: the timeline is loaded again after a pause of this length
const PAUSE_MS = 1000;

/** The timeline of a session, a project or all. The address has the query. */
export function TimelinePage({ app, timeline: query }: { app: AppStore; timeline: TimelineQuery }) {
  const { session, workdir, span } = query;
  const whole = useTimelineStore(app, 0);
  const near = useTimelineStore(app, MAX_PROMPTS);
  const changeKey = changeKeyOf(app.sessions.newestFirst.value, query);
  const timeline = whole.timeline.value;
  const close = near.timeline.value;
  const { sessions } = app.sessions.listing.value;
  const columns = useMemo(() => (timeline ? columnsOf(timeline) : []), [timeline]);
  const at = chosenAt(columns, span);
  const column = columns[at];
  const [from, to] = [column?.from, column?.to];

  useTimelineQuery(whole, { session, workdir, span: null }, changeKey);
  useTimelineQuery(near, from && to ? { session, workdir, span: { from, to } } : null, changeKey);

  const hrefOf = (one: Column) =>
    timelineHref({ session, workdir, span: { from: one.from, to: one.to } });
  const problem = whole.failure.value?.sentence ?? '';
  return (
    <div class="inbox">
      <header class="session-head">
        {session === null ? (
          <BackButton />
        ) : (
          <BackButton href={sessionHref(session)} label="Conversation" />
        )}
        <h1 class="inbox-title">Timeline</h1>
        {session === null && <Projects app={app} workdir={workdir} />}
      </header>
      <div class="inbox-log" aria-busy={timeline === null && problem === ''}>
        <div class="inbox-column timeline">
          {session !== null && <SessionName app={app} id={session} />}
          {problem !== '' && (
            <p class="timeline-problem" role="alert">
              {problem}{' '}
              <button
                type="button"
                onClick={() => void whole.load({ session, workdir, span: null })}
              >
                Try again
              </button>
            </p>
          )}
          {timeline === null && problem === '' && <p class="timeline-reading">Reading…</p>}
          {timeline && (
            <p class="timeline-note" role="status">
              {columns.length === 0 && timeline.complete && 'Nothing was done here yet.'}
              {!timeline.complete && 'Not every line has been read yet; this will be more.'}
            </p>
          )}
          {timeline && columns.length > 0 && (
            <>
              <Plot
                columns={columns}
                total={timeline.total}
                at={at}
                zone={timeline.zone}
                hrefOf={hrefOf}
                onChoose={(one) => location.replace(hrefOf(one))}
              />
              <BucketDetails
                columns={columns}
                at={at}
                timeline={close && { ...close, prompts: titled(sessions, close.prompts) }}
                problem={near.failure.value?.sentence ?? ''}
                sessions={session === null}
                hrefOf={hrefOf}
              />
              <Table columns={columns} hrefOf={hrefOf} />
            </>
          )}
        </div>
      </div>
    </div>
  );
}

function useTimelineStore(app: AppStore, prompts: number): TimelineStore {
  const store = useMemo(() => createTimelineStore(app.api, prompts), [app, prompts]);
  useEffect(() => store.stop, [store]);
  return store;
}

/** Loads a new query at once, and the same query again after a pause when something changed. */
function useTimelineQuery(
  store: TimelineStore,
  query: TimelineQuery | null,
  changeKey: string,
): void {
  const queryKey = JSON.stringify(query);
  useEffect(() => {
    if (query !== null) void store.load(query);
  }, [store, queryKey]);
  useEffect(() => {
    if (query === null || store.timeline.peek() === null) return;
    const later = setTimeout(() => void store.load(query), PAUSE_MS);
    return () => clearTimeout(later);
  }, [store, changeKey]);
}

/** Changes when a session of the query has new messages. */
function changeKeyOf(newestFirst: readonly Session[], { session, workdir }: TimelineQuery): string {
  const newest = newestFirst.find((one) =>
    session === null ? workdir === null || one.workdir === workdir : one.id === session,
  );
  return newest?.modified ?? '';
}

function SessionName({ app, id }: { app: AppStore; id: string }) {
  const session = app.sessions.listing.value.sessions.get(id);
  return (
    <p class="timeline-of">
      <a href={sessionHref(id)} dir="auto">
        {session ? titleOf(session) : 'The conversation'}
      </a>
      {session?.workdir && (
        <a class="timeline-project" href={timelineHref({ workdir: session.workdir })}>
          {session.project ?? session.workdir}
        </a>
      )}
    </p>
  );
}

function Projects({ app, workdir }: { app: AppStore; workdir: string | null }) {
  const sessions = app.sessions.newestFirst.value;
  const projects = useMemo(() => {
    const sections = groupByProject(sessions).filter(({ path }) => path !== null);
    const isMissing = workdir !== null && sections.every(({ path }) => path !== workdir);
    const missing = { key: workdir ?? '', path: workdir, label: workdir ?? '', parent: null };
    return isMissing ? [missing, ...sections] : sections;
  }, [sessions, workdir]);
  return (
    <select
      class="timeline-projects"
      aria-label="Project"
      value={workdir ?? ''}
      onChange={(event) => location.replace(timelineHref({ workdir: event.currentTarget.value }))}
    >
      <option value="">All projects</option>
      {projects.map(({ key, path, label, parent }) => (
        <option key={key} value={path ?? ''}>
          {parent === null ? label : `${label} (${parent})`}
        </option>
      ))}
    </select>
  );
}

/** The plot as a table, the newest column first. */
function Table({ columns, hrefOf }: { columns: readonly Column[]; hrefOf(one: Column): string }) {
  const rows = columns.filter(({ done }) => !isNothing(done)).reverse();
  const checked = rows.some(({ covered }) => covered !== null);
  return (
    <details class="timeline-table">
      <summary>As a table</summary>
      <div>
        <table>
          <thead>
            <tr>
              <th scope="col">When</th>
              <th scope="col">Prompts</th>
              <th scope="col">Tools</th>
              <th scope="col">Edits</th>
              <th scope="col">
                <abbr title="Compactions">Comp.</abbr>
              </th>
              <th scope="col">Cost</th>
              {checked && <th scope="col">Checklist</th>}
            </tr>
          </thead>
          <tbody>
            {rows.map((one) => (
              <tr key={one.from}>
                <th scope="row">
                  <a href={hrefOf(one)}>{one.name}</a>
                </th>
                <td>{count(one.done.prompts)}</td>
                <td>{count(one.done.tools)}</td>
                <td>{count(one.done.edits)}</td>
                <td>{count(one.done.compactions)}</td>
                <td>{money(one.done.costUsd)}</td>
                {checked && <td>{one.covered} %</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
