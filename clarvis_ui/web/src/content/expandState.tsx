import type { Signal } from '@preact/signals';
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useMemo } from 'preact/hooks';
import { createExpandState, type ExpandState } from '../lib/expanded';

/** Where in a conversation something stands, so that it is known again when it is drawn anew. */
interface Place {
  expandState: ExpandState;
  name: string;
}

const ExpandContext = createContext<Place | null>(null);

/** What is inside has this name among its neighbours; `folds` begins a conversation. */
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

/** Whether a part is unfolded; outside of a conversation it is so only while it is drawn. */
export function useExpandState(): (part: string, first?: boolean) => Signal<boolean> {
  const scope = useContext(ExpandContext);
  const own = useMemo(createExpandState, []);
  return (part, first) =>
    scope ? scope.expandState.signalOf(`${scope.name}/${part}`, first) : own.signalOf(part, first);
}
