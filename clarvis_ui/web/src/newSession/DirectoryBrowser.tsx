import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Api } from '../api/client';
import type { Directories } from '../api/send';
import { Icon } from '../ui/Icon';

export interface DirectoryBrowserProps {
  api: Pick<Api, 'directories'>;
  /** Where to begin; null, or where it is gone, wherever the server begins. */
  from: string | null;
  onChoose(path: string): void;
  /** Back to the known ones; null where there are none. */
  onBack: (() => void) | null;
}

/** Down and up through the directories that may be used. */
export function DirectoryBrowser({ api, from, onChoose, onBack }: DirectoryBrowserProps) {
  const at = useSignal<Directories | null>(null);
  const failure = useSignal('');
  const requested = useRef<string | null>(null);
  const list = useRef<HTMLUListElement>(null);

  async function go(path: string | null): Promise<void> {
    requested.current = path;
    const outcome = await api.directories(path);
    if (requested.current !== path) return; // another one was opened in the meantime
    if (!outcome.ok && at.value === null && path !== null) return go(null);
    failure.value = outcome.ok ? '' : outcome.failure.sentence;
    if (!outcome.ok) return;
    at.value = outcome.value;
    list.current?.scrollTo(0, 0);
  }

  useEffect(() => void go(from), []);

  const here = at.value?.path ?? null;
  const up = at.value?.parent ?? null;
  return (
    <section class="chooser" aria-label="Directory">
      <div class="chooser-top">
        {onBack && (
          <button
            type="button"
            class="quiet"
            aria-label="Back to known directories"
            onClick={onBack}
          >
            <Icon name="back" />
          </button>
        )}
        <button
          type="button"
          aria-label="One directory up"
          disabled={here === null}
          onClick={() => go(up)}
        >
          <Icon name="up" />
        </button>
        <bdi class="chooser-path" dir="ltr" title={here ?? undefined}>
          {here ?? 'Allowed directories'}
        </bdi>
        <button
          type="button"
          class="strong"
          disabled={here === null}
          onClick={() => here !== null && onChoose(here)}
        >
          Use this
        </button>
      </div>
      {failure.value !== '' && (
        <p class="new-session-failure" role="alert">
          {failure.value}
        </p>
      )}
      <ul class="chooser-list" ref={list} aria-busy={at.value === null}>
        {at.value?.directories.map(({ name, path }) => (
          <li key={path}>
            <button type="button" class="quiet" onClick={() => go(path)}>
              <Icon name="folder" />
              <bdi>{name}</bdi>
            </button>
          </li>
        ))}
        {at.value?.directories.length === 0 && (
          <li class="chooser-nothing">There is no directory inside this one.</li>
        )}
      </ul>
    </section>
  );
}
