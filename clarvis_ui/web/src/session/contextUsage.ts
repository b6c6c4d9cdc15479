import type { Message } from '../conversation/conversation';

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

/** `claude-opus-5-5-20260101` → "Opus 5.5", `opus` → "Opus". */
export function modelName(model: string): string {
  const [, name, major, minor, large] =
    /^(?:claude-)?([a-z]+)(?:-(\d+)(?:-(\d{1,2}))?(?:-\d{8})?)?(\[1m\])?$/.exec(model) ?? [];
  if (!name) return model;
  const version = major ? ` ${major}${minor ? `.${minor}` : ''}` : '';
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}${version}${large ? ' 1M' : ''}`;
}
