import type { Door } from '../state/door';
import type { Place } from '../state/place';
import type { SessionStore } from '../state/sessions';
import { useLater } from '../ui/useLater';
import { Login } from './Login';
import { Shell } from './Shell';

export interface AppProps {
  door: Door;
  place: Place;
  sessions: SessionStore;
}

export function App({ door, place, sessions }: AppProps) {
  const late = useLater(200);
  switch (door.state.value) {
    case 'shut':
      return <Login door={door} />;
    case 'open':
      return <Shell door={door} place={place} sessions={sessions} />;
    case 'ajar':
      // usually over before anybody sees it
      return late ? <Shell door={door} place={place} sessions={sessions} /> : null;
    default:
      return door.state.value satisfies never;
  }
}
