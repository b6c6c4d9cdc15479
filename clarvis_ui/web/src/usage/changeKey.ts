import type { Listing } from '../sessions/list';

/** Changes whenever something was used, or was found to have been. */
export function usageChangeKey({ sessions }: Pick<Listing, 'sessions'>): string {
  let tokens = 0;
  for (const session of sessions.values()) {
    const { input, output, cacheRead, cacheWrite } = session.tokens ?? NONE;
    tokens += input + output + cacheRead + cacheWrite;
  }
  return `${sessions.size} ${tokens}`;
}

const NONE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
