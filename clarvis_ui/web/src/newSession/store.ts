import { batch, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { Api } from '../api/client';
import { verbatim } from '../api/decode';
import type { Failure } from '../api/result';
import type { Capabilities } from '../api/send';
import type { BrowserStorage } from '../lib/storage';
import { newUuid } from '../lib/uuid';

/** What a new session may go on from; all of it can be changed before it is sent. */
export interface NewSessionPreset {
  workdir: string | null;
  text: string;
  model: string | null;
  mode: string | null;
}

/** A session that is about to begin: where, with which words, and how. */
export interface NewSessionStore {
  readonly isOpen: ReadonlySignal<boolean>;
  readonly workdir: ReadonlySignal<string | null>;
  /** The first prompt; stored until it is sent. */
  readonly text: ReadonlySignal<string>;
  readonly model: Signal<string>;
  readonly mode: Signal<string>;
  /** Appended to Claude Code's own; stored like the first prompt. */
  readonly systemPrompt: ReadonlySignal<string>;
  readonly capabilities: ReadonlySignal<Capabilities | null>;
  readonly starting: ReadonlySignal<boolean>;
  readonly failure: ReadonlySignal<Failure | null>;
  show(suggested: string | null): void;
  /** Opens it with these settings; the text comes before what was typed already. */
  showPreset(fresh: NewSessionPreset): void;
  hide(): void;
  choose(workdir: string): void;
  write(text: string): void;
  writeSystemPrompt(text: string): void;
  start(): Promise<void>;
}

export interface NewSessionStoreOptions {
  api: Pick<Api, 'offersIn' | 'send'>;
  storage: BrowserStorage;
  go(sessionId: string): void;
}

const TEXT_KEY = 'new';
const SYSTEM_PROMPT_KEY = 'new.system-prompt';

export function createNewSessionStore({
  api,
  storage,
  go,
}: NewSessionStoreOptions): NewSessionStore {
  const isOpen = signal(false);
  const workdir = signal<string | null>(null);
  const text = signal(verbatim(storage.read(TEXT_KEY)));
  const model = signal('');
  const mode = signal('');
  const systemPrompt = signal(verbatim(storage.read(SYSTEM_PROMPT_KEY)));
  const capabilities = signal<Capabilities | null>(null);
  const starting = signal(false);
  const failure = signal<Failure | null>(null);
  /** The uuid of this text: sent again after a lost answer, it is still one message. */
  let uuid = newUuid();

  function setText(next: string): void {
    if (next !== text.value) uuid = newUuid();
    text.value = next;
    storage.write(TEXT_KEY, next);
  }

  function setSystemPrompt(next: string): void {
    systemPrompt.value = next;
    if (next === '') storage.forget(SYSTEM_PROMPT_KEY);
    else storage.write(SYSTEM_PROMPT_KEY, next);
  }

  async function choose(next: string): Promise<void> {
    if (workdir.value === next) return;
    batch(() => {
      workdir.value = next;
      capabilities.value = null;
      failure.value = null;
    });
    const outcome = await api.offersIn(next);
    // by now another one may have been chosen; without offers one begins with what is usual
    if (workdir.value !== next || !outcome.ok) return;
    const { models, modes } = outcome.value;
    batch(() => {
      capabilities.value = outcome.value;
      // a session says the whole name of its model, of which what is offered may be a part
      const like = models.find(({ value }) => value === model.value) ?? part(models, model.value);
      model.value = like?.value ?? '';
      if (!modes.includes(mode.value)) mode.value = '';
    });
  }

  return {
    isOpen,
    workdir,
    text,
    model,
    mode,
    systemPrompt,
    capabilities,
    starting,
    failure,
    show(suggested) {
      failure.value = null;
      isOpen.value = true;
      if (suggested !== null) void choose(suggested);
    },
    showPreset(fresh) {
      batch(() => {
        failure.value = null;
        if (!text.value.includes(fresh.text)) {
          setText([fresh.text, text.value].filter(Boolean).join('\n\n'));
        }
        model.value = fresh.model ?? '';
        mode.value = fresh.mode ?? '';
        // anew, so that what is offered there is matched with these
        workdir.value = null;
        if (fresh.workdir !== null) void choose(fresh.workdir);
        isOpen.value = true;
      });
    },
    hide() {
      isOpen.value = false;
    },
    choose: (next) => void choose(next),
    write: setText,
    writeSystemPrompt: setSystemPrompt,
    async start() {
      const words = text.value.trim();
      if (starting.value || workdir.value === null || words === '') return;
      starting.value = true;
      const outcome = await api.send({
        workdir: workdir.value,
        content: [{ type: 'text', text: words }],
        uuid,
        ...(model.value && { model: model.value }),
        ...(mode.value && { permissionMode: mode.value }),
        ...(systemPrompt.value.trim() && { systemPrompt: systemPrompt.value }),
      });
      batch(() => {
        starting.value = false;
        failure.value = outcome.ok ? null : outcome.failure;
        if (!outcome.ok) return;
        isOpen.value = false;
        setText('');
        setSystemPrompt('');
      });
      if (outcome.ok) go(outcome.value.sessionId);
    },
  };
}

function part(
  models: Capabilities['models'],
  name: string,
): Capabilities['models'][number] | undefined {
  return name === '' ? undefined : models.find(({ value }) => name.includes(value));
}
