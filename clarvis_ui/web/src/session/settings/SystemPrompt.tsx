import { useEffect, useRef, useState } from 'preact/hooks';
import type { Api } from '../../api/client';
import type { Outcome } from '../../api/result';
import type { Session } from '../../api/sessions';
import { type Drafts, systemPromptDraft } from '../../composer/drafts';
import { counted } from '../../lib/format';
import { useAbortableEffect } from '../../ui/useRequest';
import { SystemPromptField } from './SystemPromptField';
import './system-prompt.css';

export interface SystemPromptProps {
  session: Session;
  api: Pick<Api, 'settings' | 'setMode'>;
  drafts: Drafts;
  onSession(session: Session): void;
}

/** What is appended to Claude Code's own system prompt in this session: shown, changed, cleared. */
export function SystemPrompt({ session, api, drafts, onSession }: SystemPromptProps) {
  const { id, systemPrompt } = session;
  const draftKey = systemPromptDraft(id);
  const set = (systemPrompt?.characters ?? 0) > 0;
  const [words, setWords] = useLoadedPrompt(api, session);
  /** The draft; null while nobody edits it. An unsaved one is restored. */
  const [written, setWritten] = useState<string | null>(() => drafts.read(draftKey).text || null);
  const [cleared, setCleared] = useState<string | null>(null);
  const [problem, setProblem] = useState('');
  const [saving, setSaving] = useState(false);
  const section = useRef<HTMLElement>(null);
  const pressed = useRef(false);

  const visible = written !== null ? 'field' : set ? 'words' : 'nothing';
  // the button that was pressed is another one now, or gone
  useEffect(() => {
    if (!pressed.current) return;
    pressed.current = false;
    section.current?.querySelector<HTMLElement>('textarea, button')?.focus();
  }, [visible]);

  function write(text: string | null): void {
    setWritten(text);
    drafts.write(draftKey, { text: text ?? '', images: [] });
  }

  async function save(next: string | null): Promise<boolean> {
    setSaving(true);
    pressed.current = true;
    const outcome = await api.setMode(id, { systemPrompt: next });
    setSaving(false);
    setProblem(outcome.ok ? '' : outcome.failure.sentence);
    if (!outcome.ok) {
      pressed.current = false;
      return false;
    }
    setWords({ ok: true, value: next ?? '' });
    onSession(outcome.value);
    return true;
  }

  async function clear(): Promise<void> {
    const before = words?.ok ? words.value : null;
    if (await save(null)) setCleared(before);
  }

  return (
    <section ref={section} class="system-prompt" aria-label="System prompt">
      <h2>System prompt</h2>
      <p class="system-prompt-state">{systemPromptWords(session)}</p>
      {written !== null ? (
        <>
          <SystemPromptField
            label="Appended to Claude Code’s system prompt"
            value={written}
            onInput={write}
          />
          <p class="system-prompt-buttons">
            <button
              type="button"
              class="strong"
              disabled={saving || written.trim() === ''}
              onClick={async () => {
                if (await save(written)) {
                  write(null);
                  setCleared(null);
                }
              }}
            >
              Save
            </button>
            <button
              type="button"
              onClick={() => {
                pressed.current = true;
                write(null);
                setProblem('');
              }}
            >
              Cancel
            </button>
          </p>
        </>
      ) : (
        <>
          {set && words?.ok === true && (
            <p class="system-prompt-words" dir="auto">
              {words.value}
            </p>
          )}
          {set && words?.ok === false && (
            <p class="system-prompt-problem">{words.failure.sentence}</p>
          )}
          <p class="system-prompt-buttons">
            <button
              type="button"
              // the current prompt has to be loaded before it is edited
              disabled={set && words?.ok !== true}
              onClick={() => {
                pressed.current = true;
                setWritten(set && words?.ok ? words.value : '');
              }}
            >
              {set ? 'Change' : 'Append one'}
            </button>
            {set && (
              <button type="button" disabled={saving || !words?.ok} onClick={() => void clear()}>
                Clear
              </button>
            )}
            {!set && cleared !== null && (
              <button type="button" disabled={saving} onClick={() => void save(cleared)}>
                Undo
              </button>
            )}
          </p>
        </>
      )}
      <p class="system-prompt-problem" role="alert">
        {problem}
      </p>
    </section>
  );
}

/** Whether it holds, and from when on. */
export function systemPromptWords({ systemPrompt }: Pick<Session, 'systemPrompt'>): string {
  if (systemPrompt === null) return 'Claude Code’s own. Nothing is appended.';
  const { characters, pending } = systemPrompt;
  if (characters === 0) {
    return 'Cleared from the session’s next process on. The one that runs still has what was appended.';
  }
  const appended = `${counted(characters, 'character')} appended to Claude Code’s own.`;
  return pending
    ? `${appended} Holds from the session’s next process on; the one that runs does not have it.`
    : `${appended} Holds for this session.`;
}

/** The system prompt of the session; null while it loads. */
function useLoadedPrompt(api: SystemPromptProps['api'], { id, systemPrompt }: Session) {
  const [words, setWords] = useState<Outcome<string> | null>(null);
  const characters = systemPrompt?.characters ?? 0;
  const pending = systemPrompt?.pending ?? false;
  useAbortableEffect(
    async (signal) => {
      if (characters === 0) return;
      const outcome = await api.settings(id, signal);
      if (signal.aborted) return;
      setWords(outcome.ok ? { ok: true, value: outcome.value.systemPrompt ?? '' } : outcome);
    },
    [api, id, characters, pending],
  );
  return [words, setWords] as const;
}
