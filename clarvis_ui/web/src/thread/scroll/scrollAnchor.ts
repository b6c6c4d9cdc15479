import { createContext } from 'preact';

/** Called before something unfolds: what is in sight then stays where it is. */
export const HoldScroll = createContext<() => void>(() => {});
