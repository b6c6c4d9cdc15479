import { useEffect, useState } from 'preact/hooks';
import type { Archive } from '../api/archive';
import type { Session } from '../api/sessions';
import { BackButton } from '../app/BackButton';
import { sessionHref } from '../app/routes';
import type { AppStore } from '../app/store';
import { counted, fileSize, fullTime } from '../lib/format';
import { titleOf } from '../sessions/labels';
import '../app/page-head.css';
import '../attention/inbox.css';
import './archive.css';

/** The archive: transcripts that Claude Code will delete soon, and deleted ones. */
export function ArchivePage({ app }: { app: AppStore }) {
  const { archive, sessions } = app;
  const status = archive.status.value;
  const listed = sessions.listing.value.sessions;
  const gone = sessions.newestFirst.value.filter((session) => session.archived);
  useEffect(() => void archive.refresh(), [archive]);

  return (
    <div class="inbox">
      <header class="session-head">
        <BackButton />
        <h1 class="inbox-title">Archive</h1>
      </header>
      <div class="inbox-log">
        <div class="inbox-column archive">
          {status && <Holding archive={status} onSwitch={(on) => void archive.switch(on)} />}
          <p class="archive-problem" role="alert">
            {archive.failure.value?.sentence}
          </p>
          {status && status.due.length > 0 && (
            <section aria-label="Deleted before long">
              <h2>Deleted before long</h2>
              <ul>
                {status.due.map(({ sessionId, at }) => (
                  <li key={sessionId}>
                    <a href={sessionHref(sessionId)} dir="auto">
                      {nameOf(listed.get(sessionId))}
                    </a>
                    <time dateTime={at ?? undefined}>{fullTime(at)}</time>
                  </li>
                ))}
              </ul>
            </section>
          )}
          {gone.length > 0 && (
            <section aria-label="Deleted, and kept">
              <h2>Deleted, and kept</h2>
              <ul>
                {gone.map((session) => (
                  <GoneRow key={session.id} session={session} app={app} />
                ))}
              </ul>
            </section>
          )}
        </div>
      </div>
    </div>
  );
}

function Holding({ archive, onSwitch }: { archive: Archive; onSwitch(on: boolean): void }) {
  const { on, holds, days } = archive;
  const after = days === null ? '' : ` after ${counted(days, 'day')}`;
  return (
    <section class="archive-state" aria-label="What is kept">
      <p>
        Claude Code deletes a session{after}.{' '}
        {on
          ? 'The archive keeps every transcript; it takes no space until one is deleted.'
          : 'The archive is off: what it deletes is gone.'}
      </p>
      {holds !== null && (
        <>
          {holds.kept + holds.gone > 0 && (
            <p>
              <b>
                It holds {counted(holds.kept, 'session')} that {holds.kept === 1 ? 'lives' : 'live'}{' '}
                and {counted(holds.gone, 'deleted one')}
              </b>
              {holds.cost > 0 && `, ${fileSize(holds.cost)} beside what Claude Code has itself`}.
            </p>
          )}
          <button type="button" class={on ? 'quiet' : 'strong'} onClick={() => onSwitch(!on)}>
            {on ? 'Keep no more' : 'Keep every session'}
          </button>
        </>
      )}
    </section>
  );
}

function GoneRow({ session, app }: { session: Session; app: AppStore }) {
  const [problem, setProblem] = useState('');

  async function restore(): Promise<void> {
    const outcome = await app.api.restore(session.id);
    if (outcome.ok) app.sessions.update(outcome.value);
    else setProblem(outcome.failure.sentence);
    void app.archive.refresh();
  }

  return (
    <li>
      <a href={sessionHref(session.id)} dir="auto">
        {titleOf(session)}
      </a>
      {problem && <span role="alert">{problem}</span>}
      <time dateTime={session.archivedSince ?? undefined}>{fullTime(session.archivedSince)}</time>
      <button type="button" onClick={() => void restore()}>
        Restore
      </button>
    </li>
  );
}

function nameOf(session: Session | undefined): string {
  return session ? titleOf(session) : 'A session';
}
