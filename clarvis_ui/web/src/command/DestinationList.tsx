import { useEffect, useRef } from 'preact/hooks';
import type { Hit } from '../api/search';
import type { Session } from '../api/sessions';
import type { SpokenAction } from '../composer/spokenActions';
import { relativeTime } from '../lib/format';
import { isTouch } from '../lib/input';
import { Snippet } from '../search/Snippet';
import { nearMatch, sourceWords } from '../search/store';
import { modeLabel } from '../session/settings/modeLabels';
import { projectOf } from '../sessions/groupByProject';
import { statusOf, summaryOf, titleOf } from '../sessions/labels';
import { Icon } from '../ui/Icon';
import { StatusDot } from '../ui/StatusDot';
import { useNow } from '../ui/useNow';
import type { Destination } from './destinations';

/** Something that Enter can do: send it this way, open a session or message, look for it. */
export type DestinationOption =
  | { key: string; action: SpokenAction; of: Session }
  | { key: string; destination: Destination }
  | { key: string; session: Session }
  | { key: string; hit: Hit }
  | { key: string; words: string };

export interface DestinationListProps {
  id: string;
  options: readonly DestinationOption[];
  active: string | undefined;
  /** The list still belongs to the previous text. */
  asking: boolean;
  onPick(option: DestinationOption): void;
  onDirectory(): void;
}

/** The destinations of the text and why, and sessions and messages to open. */
export function DestinationList({
  id,
  options,
  active,
  asking,
  onPick,
  onDirectory,
}: DestinationListProps) {
  const list = useRef<HTMLDivElement>(null);
  const now = useNow(20_000);
  const firstOpen = options.find((option) => 'session' in option);
  const firstFound = options.find((option) => 'hit' in option || 'words' in option);
  const typed = options.some((option) => 'destination' in option);

  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [active]);

  return (
    <div
      class="say-options"
      id={id}
      role="listbox"
      aria-label="Where it goes"
      aria-busy={asking}
      ref={list}
    >
      {options.map((option) => (
        <>
          {option === firstOpen && (
            <p class="say-heading" role="presentation">
              Open {typed && <kbd>Ctrl Enter</kbd>}
            </p>
          )}
          {option === firstFound && (
            <p class="say-heading" role="presentation">
              Found in messages
            </p>
          )}
          {/* biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and says which is active */}
          {/* biome-ignore lint/a11y/useKeyWithClickEvents: its keys are those of the field */}
          <div
            key={option.key}
            id={`${id} ${option.key}`}
            class="say-option"
            role="option"
            aria-selected={option.key === active}
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => onPick(option)}
          >
            {'action' in option && <SpokenActionView action={option.action} of={option.of} />}
            {'destination' in option && (
              <WayView destination={option.destination} onDirectory={onDirectory} />
            )}
            {'session' in option && <SessionView session={option.session} now={now} />}
            {'hit' in option && <HitView hit={option.hit} now={now} />}
            {'words' in option && <FindView words={option.words} />}
          </div>
        </>
      ))}
    </div>
  );
}

/** What Enter does in place of sending it. */
function SpokenActionView({ action, of }: { action: SpokenAction; of: Session }) {
  return (
    <>
      <Icon name="resume" />
      <span class="say-what">
        {!isTouch() && (
          <>
            <kbd>Enter</kbd>:{' '}
          </>
        )}
        {ASKED_WORDS[action.kind === 'recap' ? action.level : action.kind]}{' '}
        <b dir="auto">{titleOf(of)}</b>
      </span>
      <span class="say-why">{isTouch() ? 'Send' : <kbd>Tab</kbd>} sends it as a message</span>
    </>
  );
}

const ASKED_WORDS = {
  quick: 'quick recap of',
  detailed: 'detailed recap of',
  skip: 'skip the recap of',
  alternative: 'explore it in a copy of',
  decided: 'look for what was decided in',
} as const;

function WayView({ destination, onDirectory }: { destination: Destination; onDirectory(): void }) {
  if (destination.kind === 'resume') {
    return (
      <>
        <Icon name="resume" />
        <span class="say-what">
          Resume <b dir="auto">{destination.title}</b>
          {destination.copy && ' in a copy, as a terminal has it open'}
          {destination.leavesPlanFor &&
            `, leaving plan mode for “${modeLabel(destination.leavesPlanFor)}”`}
        </span>
        {destination.because && (
          <span class="say-why" dir="auto">
            because {destination.because}
          </span>
        )}
      </>
    );
  }
  return (
    <>
      <Icon name="plus" />
      <span class="say-what">
        New in{' '}
        {destination.workdir === null ? (
          '…'
        ) : (
          <b dir="ltr">{destination.workdir.split('/').findLast(Boolean)}</b>
        )}
      </span>
      <span class="say-why" dir="auto">
        {destination.because ?? destination.workdir}
      </span>
      {/* no control may stand in an option: by key it is Alt and the down arrow in the field */}
      <span
        class="say-change"
        aria-hidden="true"
        title={destination.workdir ?? undefined}
        onClick={(event) => {
          event.stopPropagation();
          onDirectory();
        }}
      >
        {destination.workdir === null ? 'Choose a directory' : 'Change'}
      </span>
    </>
  );
}

function SessionView({ session, now }: { session: Session; now: number }) {
  const status = statusOf(session);
  const silent = status.tone === 'quiet' || status.tone === 'unread';
  return (
    <>
      <StatusDot tone={status.tone} elsewhere={status.elsewhere} />
      <span class="say-what">
        <b dir="auto">{titleOf(session)}</b>
      </span>
      <span class="say-why" dir="auto">
        {projectOf(session)} · {silent ? summaryOf(session) : status.words}
      </span>
      <time class="say-time">{relativeTime(session.modified, now)}</time>
    </>
  );
}

function HitView({ hit, now }: { hit: Hit; now: number }) {
  return (
    <>
      <Icon name="message" />
      <span class="say-what" dir="auto">
        <Snippet pieces={nearMatch(hit.snippet)} />
      </span>
      <span class="say-why" dir="auto">
        {sourceWords(hit)} in {hit.title ?? 'Untitled session'}
      </span>
      <time class="say-time">{relativeTime(hit.timestamp, now)}</time>
    </>
  );
}

function FindView({ words }: { words: string }) {
  return (
    <>
      <Icon name="search" />
      <span class="say-what">
        Search all messages for <b dir="auto">{words}</b>
      </span>
    </>
  );
}
