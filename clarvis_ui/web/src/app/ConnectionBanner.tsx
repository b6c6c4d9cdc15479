import { useEffect, useState } from 'preact/hooks';
import { CLARVIS_UNREACHABLE, type Failure } from '../api/result';
import { Banner } from '../ui/Banner';
import type { AppStore } from './store';

const OFFLINE: Failure = { code: 'offline', sentence: 'This device is offline.' };
const RECONNECTING: Failure = { code: 'reconnecting', sentence: 'The line to the keeper is lost.' };
// a line that is back within a moment was never worth a word
const PATIENCE_MS = 1500;

/** Says quietly that something is away, for as long as it is. */
export function ConnectionBanner({ app }: { app: AppStore }) {
  const online = useOnline(app.retryNow);
  const away = useSustained(
    app.connection.value === 'away' || app.connection.value === 'connecting',
  );
  const { failure: trouble } = app.sessions.listing.value;
  const failure = explained(trouble ?? (away ? RECONNECTING : null), online);
  return failure && <Banner failure={failure} onRetry={app.retryNow} />;
}

/** Without a network the keeper may be unreachable; a keeper on this machine needs none. */
function explained(failure: Failure | null, online: boolean): Failure | null {
  if (online || failure === null) return failure;
  return failure === RECONNECTING || failure.code === CLARVIS_UNREACHABLE ? OFFLINE : failure;
}

/** What the browser says of its network; `ask` finds out whether that matters here. */
function useOnline(ask: () => void): boolean {
  const [online, setOnline] = useState(navigator.onLine);
  useEffect(() => {
    const update = () => {
      setOnline(navigator.onLine);
      if (!navigator.onLine) ask();
    };
    addEventListener('online', update);
    addEventListener('offline', update);
    return () => {
      removeEventListener('online', update);
      removeEventListener('offline', update);
    };
  }, [ask]);
  return online;
}

/** True once it has been true for a while. */
function useSustained(now: boolean): boolean {
  const [stays, setStays] = useState(false);
  useEffect(() => {
    if (!now) {
      setStays(false);
      return;
    }
    const timer = setTimeout(() => setStays(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [now]);
  return now && stays;
}
