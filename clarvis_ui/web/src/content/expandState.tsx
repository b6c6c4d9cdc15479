import type { Signal } from '@preact/signals';
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useMemo } from 'preact/hooks';
import { createExpandState, type ExpandState } from '../lib/expanded';

/** The path of a part inside a conversation. It is the key of its expanded state. */
interface Place {
  expandState: ExpandState;
  name: string;
}

const ExpandContext = createContext<Place | null>(null);

/** Adds `name` to the path of its children. `expandState` starts a new path. */
export function ExpandScope({ name, expandState, children }: WithinProps) {
  const around = useContext(ExpandContext);
  const state = expandState ?? around?.expandState;
  const whole = expandState || !around ? name : `${around.name}/${name}`;
  const scope = useMemo(() => (state ? { expandState: state, name: whole } : null), [state, whole]);
  return <ExpandContext.Provider value={scope}>{children}</ExpandContext.Provider>;
}

interface WithinProps {
  name: string;
  expandState?: ExpandState;
  children: ComponentChildren;
}

/** Whether a part is expanded. Outside a conversation this lasts only while it is rendered. */
export function useExpandState(): (part: string, first?: boolean) => Signal<boolean> {
  const scope = useContext(ExpandContext);
  const own = useMemo(createExpandState, []);
  return (part, first) =>
    scope ? scope.expandState.signalOf(`${scope.name}/${part}`, first) : own.signalOf(part, first);
}
