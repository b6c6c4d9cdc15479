import type { ComponentType } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';

/** A component whose code is fetched when it is first needed; nothing is drawn until then. */
export function lazy<P extends object>(
  load: () => Promise<ComponentType<P>>,
  Failed: ComponentType,
) {
  let Loaded: ComponentType<P> | null = null;

  async function fetch(): Promise<void> {
    Loaded ??= await load();
  }

  function Lazy(props: P) {
    const [, setLoaded] = useState(Loaded !== null);
    const [failed, setFailed] = useState(false);
    // also where it has come since this was drawn
    useLayoutEffect(() => {
      fetch().then(
        () => setLoaded(true),
        () => setFailed(true),
      );
    }, []);
    if (failed) return <Failed />;
    return Loaded && <Loaded {...props} />;
  }

  /** Fetches it ahead; where that fails, whoever needs it tries again. */
  return Object.assign(Lazy, { fetch: () => void fetch().catch(() => {}) });
}
