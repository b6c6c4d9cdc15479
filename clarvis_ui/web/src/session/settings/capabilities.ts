import { type ReadonlySignal, signal } from '@preact/signals';
import type { Api } from '../../api/client';
import type { Capabilities, SlashCommand } from '../../api/send';

/** The capabilities of sessions, read when needed and held for a while. */
export interface CapabilityStore {
  of(sessionId: string): ReadonlySignal<Capabilities | null>;
  /** Reads them, unless they are fresh. */
  want(sessionId: string): void;
  forget(): void;
}

const FRESH_MS = 5 * 60_000;

export function createCapabilityStore(
  api: Pick<Api, 'offers'>,
  now: () => number = Date.now,
): CapabilityStore {
  const entries = new Map<string, { capabilities: ReturnType<typeof empty>; until: number }>();

  function entryOf(sessionId: string) {
    const entry = entries.get(sessionId) ?? { capabilities: empty(), until: 0 };
    entries.set(sessionId, entry);
    return entry;
  }

  return {
    of: (sessionId) => entryOf(sessionId).capabilities,
    want(sessionId) {
      const wanted = entryOf(sessionId);
      if (wanted.until > now()) return;
      wanted.until = now() + FRESH_MS;
      void api.offers(sessionId).then((outcome) => {
        if (outcome.ok) wanted.capabilities.value = outcome.value;
        else wanted.until = 0;
      });
    },
    forget: () => entries.clear(),
  };
}

function empty() {
  return signal<Capabilities | null>(null);
}

const COMMAND_START = /^\/([^\s/]*)$/;

/** Which command is being typed; null where none is. */
export function commandTyped(text: string, caret: number): string | null {
  return COMMAND_START.exec(text.slice(0, caret))?.[1] ?? null;
}

const MAX_MATCHES = 50;

/** Those that begin so first, then those that have it anywhere. */
export function matchingCommands(
  commands: readonly SlashCommand[],
  typed: string,
): readonly SlashCommand[] {
  const wanted = typed.toLowerCase();
  const rank = ({ name }: SlashCommand): number => {
    const at = name.toLowerCase().indexOf(wanted);
    return at < 0 ? 3 : at === 0 ? 0 : /[:_-]/.test(name[at - 1] ?? '') ? 1 : 2;
  };
  return commands
    .map((command) => ({ command, rank: rank(command) }))
    .filter((ranked) => ranked.rank < 3)
    .sort((a, b) => a.rank - b.rank)
    .slice(0, MAX_MATCHES)
    .map((ranked) => ranked.command);
}
