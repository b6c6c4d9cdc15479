import { useEffect, useState } from 'preact/hooks';

export type Loaded<T> = { module: T } | { failed: true } | null;

/** A part of the page that is fetched when it is first needed; null until it is there. */
export function useModule<T>(load: () => Promise<T>): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>(null);
  useEffect(() => {
    let gone = false;
    load().then(
      (module) => !gone && setLoaded({ module }),
      () => !gone && setLoaded({ failed: true }),
    );
    return () => {
      gone = true;
    };
  }, [load]);
  return loaded;
}
