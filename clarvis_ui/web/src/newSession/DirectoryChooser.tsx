import { useSignal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Api } from '../api/client';
import { counted } from '../lib/format';
import type { SessionSection } from '../sessions/groupByProject';
import { Icon } from '../ui/Icon';
import { DirectoryBrowser } from './DirectoryBrowser';

export interface DirectoryChooserProps {
  projects: readonly SessionSection[];
  chosen: string | null;
  api: Pick<Api, 'directories'>;
  onChoose(path: string): void;
}

const SHOWN = 200;

/** One of the directories that are known, or any other that may be looked into. */
export function DirectoryChooser({ projects, chosen, api, onChoose }: DirectoryChooserProps) {
  const absolute = useMemo(() => projects.filter(({ path }) => path?.startsWith('/')), [projects]);
  const browsing = useSignal(absolute.length === 0);
  const query = useSignal('');
  const field = useRef<HTMLInputElement>(null);

  useLayoutEffect(() => {
    if (!browsing.value) field.current?.focus();
  }, [browsing.value]);

  if (browsing.value) {
    return (
      <DirectoryBrowser
        api={api}
        from={chosen}
        onChoose={onChoose}
        onBack={
          absolute.length === 0
            ? null
            : () => {
                browsing.value = false;
              }
        }
      />
    );
  }

  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = absolute.filter(({ path }) =>
    words.every((word) => path?.toLowerCase().includes(word)),
  );

  return (
    <section class="chooser" aria-label="Directory">
      <div class="chooser-top">
        <input
          ref={field}
          data-begin=""
          type="search"
          aria-label="Filter directories"
          placeholder="Which directory?"
          autocomplete="off"
          spellcheck={false}
          value={query.value}
          onInput={(event) => {
            query.value = event.currentTarget.value;
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return;
            event.preventDefault(); // the form is not ready to be sent by this
            const path = matches[0]?.path;
            if (path) onChoose(path);
          }}
        />
        <button
          type="button"
          onClick={() => {
            browsing.value = true;
          }}
        >
          <Icon name="folder" />
          Browse
        </button>
      </div>
      <ul class="chooser-list">
        {matches.slice(0, SHOWN).map(({ key, label, path, sessions }) => (
          <li key={key}>
            <button type="button" class="quiet" onClick={() => path && onChoose(path)}>
              <b>{label}</b>
              <bdi dir="ltr">{path}</bdi>
              <span>{counted(sessions.length, 'session')}</span>
            </button>
          </li>
        ))}
        {matches.length === 0 && (
          <li class="chooser-nothing">No known directory is called that.</li>
        )}
      </ul>
    </section>
  );
}
