import { useDelayed } from '../ui/useDelayed';
import { Login } from './Login';
import { Shell, type ShellProps } from './Shell';

export function App(props: ShellProps) {
  const { auth } = props.app;
  const late = useDelayed(200);
  switch (auth.state.value) {
    case 'loggedOut':
      return <Login auth={auth} />;
    case 'loggedIn':
      return <Shell {...props} />;
    case 'unknown':
      // usually over before anybody sees it
      return late ? <Shell {...props} /> : null;
    default:
      return auth.state.value satisfies never;
  }
}
