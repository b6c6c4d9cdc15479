import { useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Api } from '../api/client';
import type { Session } from '../api/sessions';
import { searchHref, sessionHref } from '../app/routes';
import { type SpokenAction, spokenActionOf } from '../composer/spokenActions';
import { isComposing, isTouch } from '../lib/input';
import { DirectoryChooser } from '../newSession/DirectoryChooser';
import { hitHref, isWorthSearching } from '../search/store';
import { groupByProject } from '../sessions/groupByProject';
import { titled } from '../sessions/labels';
import { Icon } from '../ui/Icon';
import { DestinationList, type DestinationOption } from './DestinationList';
import { DictateButton } from './DictateButton';
import { destinationKey, opensFor } from './destinations';
import type { CommandSetup } from './setup';
import { canSpeak } from './speech';
import { useMessageHits } from './useMessageHits';
import './command.css';

export interface CommandFormProps {
  commandSetup: CommandSetup;
  sessions: readonly Session[];
  currentId: string | null;
  api: Pick<Api, 'directories' | 'search'>;
  onDone?(): void;
}

/** The form of the command bar; it shows where the text will go while one types. */
export function CommandForm({ commandSetup, sessions, currentId, api, onDone }: CommandFormProps) {
  const { command, readAloud } = commandSetup;
  const { text, destinations, chosen, isRouting: asking, failure } = command;
  const field = useRef<HTMLTextAreaElement>(null);
  const listId = useId();
  const [choosing, setChoosing] = useState(false);
  const [problem, setProblem] = useState('');
  /** What Enter would open instead of sending: a session, a message, or the search page. */
  const [opening, setOpening] = useState<string | null>(null);
  const empty = text.value.trim() === '';
  const opens = useMemo(
    () => opensFor(sessions, text.value, currentId),
    [sessions, text.value, currentId],
  );
  const byId = useMemo(() => new Map(sessions.map((one) => [one.id, one])), [sessions]);
  const hits = titled(byId, useMessageHits(api, text.value));
  const action = spokenActionOf(text.value);
  const of = action && sessionOf(action);
  const options: DestinationOption[] = [
    ...(action && of ? [{ key: ASKED, action, of }] : []),
    ...(empty
      ? []
      : destinations.value.map((destination) => ({
          key: destinationKey(destination),
          destination,
        }))),
    ...opens.map((session) => ({ key: `open ${session.id}`, session })),
    ...hits.map((hit) => ({ key: `find ${hit.sessionId} ${hit.uuid}`, hit })),
    ...(isWorthSearching(text.value) ? [{ key: 'find', words: text.value.trim() }] : []),
  ];
  const sent = empty ? options[0]?.key : destinationKey(chosen.value);
  const first = options[0]?.key === ASKED && opening === null ? ASKED : sent;
  const active = options.find(({ key }) => key === opening)?.key ?? first;
  const projects = useMemo(() => (choosing ? groupByProject(sessions) : []), [choosing, sessions]);

  const chose = useRef(false);
  useLayoutEffect(() => {
    // after a directory is chosen, the field has the focus at once
    if (chose.current && !choosing) field.current?.focus();
    chose.current = choosing;
  }, [choosing]);

  /** The session that a spoken action is about: the open one, or the newest one. */
  function sessionOf({ kind }: SpokenAction): Session | null {
    const open = sessions.find(({ id }) => id === currentId) ?? sessions[0] ?? null;
    // what is written in its field is not replaced
    return open && kind === 'decided' && commandSetup.hasDraft(open.id) ? null : open;
  }

  function write(next: string): void {
    setOpening(null);
    setProblem('');
    command.write(next);
  }

  async function act(key: string | undefined): Promise<void> {
    const option = options.find((one) => one.key === key);
    if (option && 'action' in option) {
      location.hash = sessionHref(option.of.id);
      commandSetup.requestAction({ sessionId: option.of.id, action: option.action });
      onDone?.();
      return;
    }
    if (option && !('destination' in option)) {
      location.hash = hrefOf(option);
      onDone?.();
      return;
    }
    if (empty) return;
    if (option) command.choose(option.destination);
    if (chosen.value.kind === 'new' && chosen.value.workdir === null) setChoosing(true);
    else if (await command.send()) onDone?.();
  }

  function move(step: 1 | -1): void {
    const at = options.findIndex(({ key }) => key === active);
    select(options.at((at + step) % options.length));
  }

  function select(option: DestinationOption | undefined): void {
    if (!option) return;
    if ('destination' in option) {
      setOpening(SENDS);
      command.choose(option.destination);
    } else setOpening(option.key);
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (isComposing(event) || !onKey(event)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Whether the key was meant for the bar. */
  function onKey(event: KeyboardEvent): boolean {
    const { key, altKey } = event;
    const strong = event.ctrlKey || event.metaKey;
    if (key === 'Enter' && strong) void act(opens[0] && `open ${opens[0].id}`);
    else if (key === 'Enter' && !event.shiftKey && !isTouch()) void act(active);
    else if (key === 'ArrowDown' && altKey) setChoosing(true);
    else if (key === 'Tab' && !empty && !strong && !altKey) {
      // the first key only leaves what the words mean for what they would be as a message
      const leaves = active === ASKED;
      setOpening(SENDS);
      if (!leaves) command.turn(event.shiftKey ? -1 : 1);
    } else if ((key === 'ArrowDown' || key === 'ArrowUp') && isAtEdge(event)) {
      move(key === 'ArrowDown' ? 1 : -1);
    } else return false;
    return true;
  }

  return (
    <form
      class="say"
      onSubmit={(event) => {
        event.preventDefault();
        void act(opening === null ? sent : active);
      }}
    >
      <div class="say-box">
        <textarea
          ref={field}
          class="say-field"
          rows={1}
          aria-label="Say what you want"
          aria-controls={listId}
          aria-autocomplete="list"
          aria-keyshortcuts="Alt+ArrowDown"
          aria-activedescendant={active === undefined ? undefined : `${listId} ${active}`}
          placeholder="Say what you want…"
          value={text.value}
          onInput={(event) => write(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <DictateButton text={text.value} onWords={write} onProblem={setProblem} />
      </div>
      {choosing ? (
        <div class="say-chooser">
          <DirectoryChooser
            projects={projects}
            chosen={command.workdir.value}
            api={api}
            onChoose={(path) => {
              command.chooseWorkdir(path);
              setChoosing(false);
            }}
          />
        </div>
      ) : (
        <DestinationList
          id={listId}
          options={options}
          active={active}
          asking={asking.value}
          onPick={(option) => void act(option.key)}
          onDirectory={() => setChoosing(true)}
        />
      )}
      <footer class="say-foot">
        <p class="say-problem" role="alert">
          {problem || failure.value?.sentence}
        </p>
        {canSpeak(window) && (
          <button
            type="button"
            class="quiet say-aloud"
            aria-pressed={readAloud.state.value === 'on'}
            title="Short replies to what is said here are read aloud"
            onClick={() => {
              readAloud.state.value = readAloud.state.value === 'on' ? 'off' : 'on';
            }}
          >
            <Icon name="speak" />
            {readAloud.state.value === 'on' ? 'Reading replies aloud' : 'Read replies aloud'}
          </button>
        )}
        <Keys empty={empty} />
        <button type="submit" class="strong" disabled={empty}>
          Send
        </button>
      </footer>
    </form>
  );
}

/** Options that are no session, message or way to send it. */
const ASKED = 'asked';
const SENDS = 'sends';

function hrefOf(
  option: Exclude<DestinationOption, { destination: unknown } | { action: unknown }>,
): string {
  if ('session' in option) return sessionHref(option.session.id);
  return 'hit' in option ? hitHref(option.hit) : searchHref({ words: option.words });
}

function Keys({ empty }: { empty: boolean }) {
  return (
    <span class="say-keys" aria-hidden="true">
      {empty ? (
        <>
          <kbd>↑</kbd> <kbd>↓</kbd> <kbd>Enter</kbd> opens
        </>
      ) : (
        <>
          <kbd>Tab</kbd> changes where <kbd>Alt ↓</kbd> directory
        </>
      )}
    </span>
  );
}

/** Arrows move the caret within several lines, and the choice above and below them. */
function isAtEdge({ key, currentTarget, altKey, shiftKey }: KeyboardEvent): boolean {
  const { value, selectionStart, selectionEnd } = currentTarget as HTMLTextAreaElement;
  if (altKey || shiftKey || selectionStart !== selectionEnd) return false;
  const beyond = key === 'ArrowUp' ? value.slice(0, selectionStart) : value.slice(selectionEnd);
  return !beyond.includes('\n');
}
