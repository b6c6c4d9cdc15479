import { createContext } from 'preact';

/** Called before something expands, so that the view stays where it is. */
export const HoldScroll = createContext<() => void>(() => {});
