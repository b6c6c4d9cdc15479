import type { ComponentChildren } from 'preact';
import type { Session, WorkItem } from '../api/sessions';
import { count, fileSize, fullTime, money, roughly } from '../lib/format';
import { progressWords, resumeCommand, statusOf, titleOf } from '../sessions/labels';
import { whereWords } from '../sessions/presenceLabels';
import { CopyButton } from '../ui/CopyButton';
import { StatusDot } from '../ui/StatusDot';
import './session-details.css';

export interface SessionDetailsProps {
  session: Session;
  /** What can be changed in the session. */
  children?: ComponentChildren;
}

/** The details of the selected session, and the commands to resume it. */
export function SessionDetails({ session, children }: SessionDetailsProps) {
  const status = statusOf(session);
  const command = resumeCommand(session);
  return (
    <article class="details">
      <header>
        <h2 class="details-title" dir="auto">
          {titleOf(session)}
        </h2>
        <p class="details-status">
          <StatusDot tone={status.tone} elsewhere={status.elsewhere} />
          <b data-tone={status.tone}>{status.words}</b>
          {session.project !== null && <bdi>{session.project}</bdi>}
        </p>
      </header>

      <section aria-label="Go on in a terminal">
        <h2>Go on in a terminal</h2>
        <div class="command">
          <code>
            {command.map((part) => (
              <span key={part}>{part}</span>
            ))}
          </code>
          <CopyButton text={command.join('')} label="Copy the command" />
        </div>
      </section>

      <Prompt heading="First prompt" text={session.firstPrompt} />
      {session.lastPrompt !== session.firstPrompt && (
        <Prompt heading="Last prompt" text={session.lastPrompt} />
      )}

      {children}

      <Facts session={session} />
    </article>
  );
}

function Prompt({ heading, text }: { heading: string; text: string | null }) {
  if (text === null) return null;
  return (
    <section aria-label={heading}>
      <h2>{heading}</h2>
      <p class="prompt" dir="auto">
        {text}
      </p>
    </section>
  );
}

function Facts({ session }: { session: Session }) {
  const { tokens } = session;
  return (
    <section aria-label="Facts">
      <dl class="facts">
        <Fact name="Item of work">{session.item && <Item item={session.item} />}</Fact>
        <Fact name="Progress">{progressWords(session.progress)}</Fact>
        <Fact name="Given up">{session.givenUp !== null && fullTime(session.givenUp)}</Fact>
        <Fact name="Directory">
          {session.workdir !== null && <code dir="ltr">{session.workdir}</code>}
        </Fact>
        <Fact name="Branch">
          {session.gitBranch !== null && <code dir="ltr">{session.gitBranch}</code>}
        </Fact>
        <Fact name="Model">{session.model}</Fact>
        <Fact name="Messages">
          {session.messageCount !== null
            ? count(session.messageCount)
            : !session.error && 'counting…'}
        </Fact>
        <Fact name="Tokens">
          {tokens &&
            `${roughly(tokens.input)} in, ${roughly(tokens.output)} out, ` +
              `${roughly(tokens.cacheRead)} read from cache, ${roughly(tokens.cacheWrite)} written to it`}
        </Fact>
        <Fact name="Cost">{session.costUsd !== null && money(session.costUsd)}</Fact>
        <Fact name="Transcript">{session.size !== null && fileSize(session.size)}</Fact>
        <Fact name="Runs">{runsWords(session)}</Fact>
        <Fact name="Deleted">{session.archived && fullTime(session.archivedSince)}</Fact>
        <Fact name="Created">{fullTime(session.created)}</Fact>
        <Fact name="Last change">{fullTime(session.modified)}</Fact>
        <Fact name="Id">
          <code dir="ltr">{session.id}</code>
        </Fact>
      </dl>
    </section>
  );
}

function Item({ item }: { item: WorkItem }) {
  return (
    <>
      <bdi>{item.key}</bdi>
      {item.project !== null && (
        <>
          {' in '}
          <bdi>{item.project}</bdi>
        </>
      )}
    </>
  );
}

/** Where somebody else runs it, and since when it does what it does. */
function runsWords(session: Session): string | null {
  const where = whereWords(session);
  if (where === null || session.presence === null) return where;
  const { status, since } = session.presence;
  return `${where}, ${status}${since === null ? '' : ` since ${fullTime(since)}`}`;
}

/** A line of the details; none without a value. */
function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  if (!children) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
