import { useDelayed } from '../ui/useDelayed';
import { Login } from './Login';
import { Shell, type ShellProps } from './Shell';

export function App(props: ShellProps) {
  const { auth: door } = props.clarvis;
  const late = useDelayed(200);
  switch (door.state.value) {
    case 'shut':
      return <Login door={door} />;
    case 'open':
      return <Shell {...props} />;
    case 'ajar':
      // usually over before anybody sees it
      return late ? <Shell {...props} /> : null;
    default:
      return door.state.value satisfies never;
  }
}
