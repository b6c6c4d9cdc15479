import type { Message } from './conversation';

/** How much of what the model can hold is used, as the last reply told it. */
export interface ContextUse {
  tokens: number;
  window: number;
  /** Whole percents. */
  percent: number;
}

const WINDOW = 200_000;
const LARGE_WINDOW = 1_000_000;

export function contextUse(messages: readonly Message[], model: string | null): ContextUse | null {
  const last = messages.findLast(
    ({ kind, usage, agentId, parentToolUseId, branch }) =>
      kind === 'compaction' ||
      (kind === 'reply' &&
        usage !== null &&
        agentId === null &&
        parentToolUseId === null &&
        branch === null),
  );
  // after a compaction nobody knows before the next reply
  if (!last?.usage || last.kind === 'compaction') return null;
  const { input, output, cacheRead, cacheWrite } = last.usage;
  const tokens = input + output + cacheRead + cacheWrite;
  if (tokens === 0) return null;
  const large = tokens > WINDOW || (model ?? last.model)?.includes('[1m]');
  const window = large ? LARGE_WINDOW : WINDOW;
  return { tokens, window, percent: Math.min(100, Math.round((100 * tokens) / window)) };
}

/** `claude-opus-5-5-20260101` → "Opus 5.5". */
export function modelName(model: string): string {
  const parts = /^claude-([a-z]+)-(\d+)(?:-(\d{1,2}))?(?:-\d{8})?(\[1m\])?$/.exec(model);
  if (!parts?.[1]) return model;
  const name = parts[1].charAt(0).toUpperCase() + parts[1].slice(1);
  return `${name} ${parts[2]}${parts[3] ? `.${parts[3]}` : ''}${parts[4] ? ' 1M' : ''}`;
}
