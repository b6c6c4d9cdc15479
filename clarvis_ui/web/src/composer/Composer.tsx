import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { SlashCommand } from '../api/send';
import { isComposing, isTouch } from '../lib/input';
import { commandTyped, matchingCommands } from '../session/settings/capabilities';
import { Icon } from '../ui/Icon';
import { AttachedImages } from './AttachedImages';
import type { Draft } from './drafts';
import type { AttachedImage } from './images';
import { imagesIn, readImage } from './readImage';
import { SlashCommands } from './SlashCommands';
import { useFileDrop } from './useFileDrop';
import './composer.css';

export interface ComposerProps {
  draft: Draft;
  running: boolean;
  /** Earlier prompts, newest first. */
  recentPrompts: () => readonly string[];
  /** Null while they are not known. */
  commands: readonly SlashCommand[] | null;
  /** Mode and model, where the header has no room for them. */
  children?: ComponentChildren;
  onCommandsWanted(): void;
  onDraft(draft: Draft): void;
  /** `interrupt`: what runs is stopped for it. */
  onSend(text: string, images: readonly AttachedImage[], interrupt: boolean): void;
  onStop(): void;
  /** What Enter does with the words in place of sending them; null where they are a message. */
  instead?: (() => void) | null;
}

export function Composer(props: ComposerProps) {
  const { draft, running, onDraft } = props;
  const field = useRef<HTMLTextAreaElement>(null);
  const file = useRef<HTMLInputElement>(null);
  const [caret, setCaret] = useState(0);
  const [active, setActive] = useState(0);
  const [closed, setClosed] = useState<string | null>(null);
  const [problem, setProblem] = useState('');
  /** Which earlier prompt is shown; -1: the draft. */
  const recalled = useRef({ at: -1, written: '' });
  const latest = useRef(draft);
  latest.current = draft;

  const typed = commandTyped(draft.text, caret);
  const matches = typed === null ? [] : matchingCommands(props.commands ?? [], typed);
  const completing =
    typed !== null && closed !== draft.text && (matches.length > 0 || props.commands === null);
  const empty = draft.text.trim() === '' && draft.images.length === 0;

  useEffect(() => {
    if (typed !== null) props.onCommandsWanted();
  }, [typed !== null]);

  // grows with what is typed, where the browser does not do so itself
  useEffect(() => {
    const area = field.current;
    if (!area || CSS.supports('field-sizing', 'content')) return;
    area.style.height = 'auto';
    area.style.height = `${area.scrollHeight}px`;
  }, [draft.text]);

  function write(text: string, at = text.length): void {
    onDraft({ ...latest.current, text });
    setCaret(at);
    setActive(0);
    // the caret follows once the text is there
    requestAnimationFrame(() => {
      // if the person typed on meanwhile, the caret stays
      if (field.current?.value === text) field.current.setSelectionRange(at, at);
    });
  }

  function send(interrupt = false): void {
    if (empty) return;
    recalled.current = { at: -1, written: '' };
    setProblem('');
    props.onSend(draft.text.trim(), draft.images, interrupt && running);
    // what is typed next is meant for it, and for no card; a phone's keyboard may go
    if (!isTouch()) field.current?.focus();
  }

  function complete(command: SlashCommand | undefined): void {
    if (command) write(`/${command.name} `);
    field.current?.focus();
  }

  function recall(step: 1 | -1): boolean {
    const prompts = props.recentPrompts();
    const { at, written } = recalled.current;
    const next = at + step;
    if (next < -1 || next >= prompts.length) return false;
    recalled.current = { at: next, written: at === -1 ? draft.text : written };
    write(next === -1 ? recalled.current.written : (prompts[next] as string));
    return true;
  }

  async function attach(files: readonly File[]): Promise<void> {
    const read = await Promise.all(files.map(readImage));
    const images = read.filter((image) => image !== null);
    const others = files.filter((_, at) => read[at] === null).map(({ name }) => name);
    setProblem(others.length === 0 ? '' : `Claude sees only images, not ${others.join(', ')}.`);
    if (images.length > 0) {
      onDraft({ ...latest.current, images: [...latest.current.images, ...images] });
    }
  }

  const dragging = useFileDrop((files) => void attach(files));

  function onKeyDown(event: KeyboardEvent): void {
    if (isComposing(event)) return;
    const area = event.currentTarget as HTMLTextAreaElement;
    if (completing && onCompletionKey(event)) {
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    const plain = !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (event.key === 'Enter' && (plain ? !isTouch() : event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      if (plain && props.instead) props.instead();
      // where Enter does something else, or begins a new line, the other key is the one that sends
      else send(!plain && !isTouch() && !props.instead);
    } else if (event.key === 'ArrowUp' && plain && onFirstLine(area)) {
      if (recall(1)) event.preventDefault();
    } else if (event.key === 'ArrowDown' && plain && recalled.current.at >= 0 && onLastLine(area)) {
      if (recall(-1)) event.preventDefault();
    }
  }

  function onCompletionKey(event: KeyboardEvent): boolean {
    switch (event.key) {
      case 'Escape':
        setClosed(draft.text);
        return true;
      case 'ArrowDown':
      case 'ArrowUp': {
        const step = event.key === 'ArrowDown' ? 1 : -1;
        if (matches.length > 0) setActive((active + step + matches.length) % matches.length);
        return matches.length > 0;
      }
      case 'Tab':
      case 'Enter': {
        const command = matches[active];
        // what is typed in full is sent, not completed once more
        if (!command || (event.key === 'Enter' && command.name === typed)) return false;
        complete(command);
        return true;
      }
      default:
        return false;
    }
  }

  return (
    <div class="composer" data-dragging={dragging}>
      {completing && (
        <SlashCommands
          commands={props.commands === null ? null : matches}
          active={active}
          onPick={complete}
        />
      )}
      <AttachedImages
        images={draft.images}
        onRemove={(at) => onDraft({ ...draft, images: draft.images.toSpliced(at, 1) })}
      />
      <textarea
        ref={field}
        class="composer-field"
        rows={1}
        aria-label="Message"
        aria-autocomplete="list"
        aria-controls={completing ? 'commands' : undefined}
        aria-activedescendant={completing && matches.length > 0 ? `command-${active}` : undefined}
        placeholder={running ? 'Message… goes next in line' : 'Message…'}
        value={draft.text}
        onInput={(event) => {
          const { value, selectionStart } = event.currentTarget;
          recalled.current.at = -1;
          onDraft({ ...latest.current, text: value });
          setCaret(selectionStart);
          setActive(0);
        }}
        onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
        onKeyDown={onKeyDown}
        onPaste={(event) => {
          const images = imagesIn(event.clipboardData);
          if (images.length === 0) return;
          event.preventDefault();
          void attach(images);
        }}
      />
      {problem && (
        <p class="composer-problem" role="alert">
          {problem}
        </p>
      )}
      <div class="composer-bar">
        <button
          type="button"
          class="quiet composer-attach"
          aria-label="Add images"
          title="Add images"
          onClick={() => file.current?.click()}
        >
          <Icon name="plus" />
        </button>
        <input
          ref={file}
          type="file"
          accept="image/*"
          multiple
          hidden
          onChange={(event) => {
            void attach([...(event.currentTarget.files ?? [])]);
            event.currentTarget.value = '';
          }}
        />
        {props.children}
        <span class="composer-space" />
        {running && (
          <button type="button" class="quiet composer-stop" onClick={props.onStop}>
            <Icon name="stop" />
            <span>Stop</span> <kbd>Esc</kbd>
          </button>
        )}
        {running && !empty && (
          <button
            type="button"
            class="composer-now"
            title="Stops what runs and says this next"
            onClick={() => send(true)}
          >
            Stop and say this
            {/* where the words mean a button, this key sends them as a message */}
            {!props.instead && (
              <>
                {' '}
                <kbd>Ctrl</kbd> <kbd>Enter</kbd>
              </>
            )}
          </button>
        )}
        <button
          type="button"
          class="strong"
          title={running ? 'Goes next in line' : undefined}
          disabled={empty}
          onClick={() => send()}
        >
          Send
        </button>
      </div>
    </div>
  );
}

function onFirstLine(area: HTMLTextAreaElement): boolean {
  return (
    area.selectionStart === area.selectionEnd &&
    !area.value.slice(0, area.selectionStart).includes('\n')
  );
}

function onLastLine(area: HTMLTextAreaElement): boolean {
  return (
    area.selectionStart === area.selectionEnd && !area.value.slice(area.selectionEnd).includes('\n')
  );
}
