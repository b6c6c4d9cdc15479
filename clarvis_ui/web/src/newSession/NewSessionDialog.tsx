import { useSignal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Api } from '../api/client';
import type { Session } from '../api/sessions';
import { isComposing } from '../lib/input';
import { modeLabel } from '../session/settings/modeLabels';
import { SystemPromptField } from '../session/settings/SystemPromptField';
import { groupByProject } from '../sessions/groupByProject';
import { Icon } from '../ui/Icon';
import { DirectoryChooser } from './DirectoryChooser';
import type { NewSessionStore } from './store';
import './new-session.css';

export interface NewSessionDialogProps {
  newSession: NewSessionStore;
  /** Their directories are those that are known; the newest first. */
  sessions: readonly Session[];
  api: Pick<Api, 'directories'>;
}

/** The dialog for a new session: directory, prompt, model and mode. */
export function NewSessionDialog({ newSession, sessions, api }: NewSessionDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const isOpen = newSession.isOpen.value;

  useLayoutEffect(() => {
    if (!isOpen) {
      dialog.current?.close();
      return;
    }
    dialog.current?.showModal();
    // a dialog focuses its first element; the prompt should have the focus
    dialog.current?.querySelector<HTMLElement>('[data-begin]')?.focus();
  }, [isOpen]);

  return (
    <dialog
      ref={dialog}
      class="new-session"
      aria-labelledby="new-session-title"
      onClose={newSession.hide}
      // what is typed here is not for the page behind it
      onKeyDown={(event) => event.stopPropagation()}
      onClick={(event) => {
        // a click on the backdrop closes the dialog
        if (event.target === dialog.current) newSession.hide();
      }}
    >
      {isOpen && <Form newSession={newSession} sessions={sessions} api={api} />}
    </dialog>
  );
}

function Form({ newSession, sessions, api }: NewSessionDialogProps) {
  const { workdir, text, capabilities, model, mode, systemPrompt, starting, failure } = newSession;
  const projects = useMemo(() => groupByProject(sessions), [sessions]);
  const choosing = useSignal(workdir.value === null);
  const prompt = useRef<HTMLTextAreaElement>(null);
  // what is left of before is seen
  const [hasPrompt] = useState(systemPrompt.value !== '');
  function onKeyDown(event: KeyboardEvent): void {
    const send = event.key === 'Enter' && (event.ctrlKey || event.metaKey);
    if (!send || isComposing(event)) return;
    event.preventDefault();
    void newSession.start();
  }
  const ready = workdir.value !== null && text.value.trim() !== '';

  useLayoutEffect(() => {
    if (!choosing.value) prompt.current?.focus();
  }, [choosing.value]);

  return (
    <form
      class="new-session-form"
      onSubmit={(event) => {
        event.preventDefault();
        void newSession.start();
      }}
    >
      <header class="new-session-head">
        <h2 id="new-session-title">New session</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={newSession.hide}>
          <Icon name="clear" />
        </button>
      </header>

      {choosing.value ? (
        <DirectoryChooser
          projects={projects}
          chosen={workdir.value}
          api={api}
          onChoose={(path) => {
            newSession.choose(path);
            choosing.value = false;
          }}
        />
      ) : (
        <button
          type="button"
          class="new-session-where"
          onClick={() => {
            choosing.value = true;
          }}
        >
          <Icon name="folder" />
          <span class="spoken">Directory: </span>
          <bdi dir="ltr">{workdir.value}</bdi>
          <span>Change</span>
        </button>
      )}

      <textarea
        ref={prompt}
        data-begin={choosing.value ? undefined : ''}
        class="new-session-prompt"
        aria-label="First prompt"
        placeholder="What should Claude do?"
        rows={4}
        value={text.value}
        onInput={(event) => newSession.write(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />

      <div class="new-session-how">
        <label>
          Model
          <select
            value={model.value}
            onChange={(event) => {
              model.value = event.currentTarget.value;
            }}
          >
            <option value="">as configured</option>
            {capabilities.value?.models.map(({ value, displayName, description }) => (
              <option key={value} value={value} title={description ?? undefined}>
                {displayName}
              </option>
            ))}
          </select>
        </label>
        <label>
          Permissions
          <select
            value={mode.value}
            onChange={(event) => {
              mode.value = event.currentTarget.value;
            }}
          >
            <option value="">as configured</option>
            {capabilities.value?.modes.map((one) => (
              <option key={one} value={one}>
                {modeLabel(one)}
              </option>
            ))}
          </select>
        </label>
      </div>

      <details class="new-session-system" open={hasPrompt}>
        <summary>System prompt</summary>
        <SystemPromptField
          label="System prompt"
          value={systemPrompt.value}
          onInput={newSession.writeSystemPrompt}
          onKeyDown={onKeyDown}
        />
        <p>Appended to Claude Code’s own, for as long as the session lasts.</p>
      </details>

      <footer class="new-session-foot">
        <p class="new-session-failure" role="alert">
          {failure.value?.sentence}
        </p>
        <span class="new-session-keys">
          <kbd>Ctrl</kbd> <kbd>Enter</kbd>
        </span>
        <button type="submit" class="strong" disabled={!ready || starting.value}>
          {starting.value ? 'Starting…' : 'Start'}
        </button>
      </footer>
    </form>
  );
}
