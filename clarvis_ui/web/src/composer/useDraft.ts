import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { AppStore } from '../app/store';
import type { Draft } from './drafts';

/** The draft of this session, stored as it is typed. */
export function useDraft(app: AppStore, id: string) {
  const [value, setValue] = useState<Draft>(() => app.drafts.read(id));
  const current = useRef(value);
  const set = useCallback(
    (draft: Draft) => {
      current.current = draft;
      setValue(draft);
      app.drafts.write(id, draft);
    },
    [app, id],
  );
  // all tabs share the draft of a session
  useEffect(
    () =>
      app.drafts.onElsewhere(id, (draft) => {
        current.current = draft;
        setValue(draft);
      }),
    [app, id],
  );
  return [
    {
      value,
      get current() {
        return current.current;
      },
      write: set,
    },
    set,
  ] as const;
}
