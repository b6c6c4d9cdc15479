import '../src/ui/base.css';
import { signal } from '@preact/signals';
import { render } from 'preact';
import type { Partial, ShownMessage, Turn } from '../src/state/conversation';
import { Thread } from '../src/views/thread/Thread';

/**
 * A conversation on its own, for measuring: whoever drives the browser puts messages in and looks
 * at what the page does with them.
 */

const PAGE = 200;

const all = signal<readonly ShownMessage[]>([]);
const from = signal(0);
const partial = signal<Partial | null>(null);
const turn = signal<Turn | null>(null);
const nested = new Map<string, readonly ShownMessage[]>();

function App() {
  return (
    <Thread
      sessionId="measured"
      messages={all.value.slice(from.value)}
      partial={partial.value}
      turn={turn.value}
      hasOlder={from.value > 0}
      loading={false}
      onOlder={() => {
        from.value = Math.max(0, from.value - PAGE);
      }}
      fetchSubagent={async (id) => nested.get(id) ?? []}
      onFork={() => {}}
    />
  );
}

const root = document.getElementById('clarvis');

const measured = {
  /** Shows the end of a conversation; resolves when it can be seen. */
  async show(messages: readonly ShownMessage[]): Promise<number> {
    const began = performance.now();
    all.value = messages;
    from.value = Math.max(0, messages.length - PAGE);
    if (root) render(<App />, root);
    await painted();
    return performance.now() - began;
  },
  add(message: ShownMessage): void {
    all.value = [...all.value, message];
  },
  work(now: Turn | null): void {
    turn.value = now;
  },
  write(block: Partial | null): void {
    partial.value = block;
  },
  nest(agentId: string, messages: readonly ShownMessage[]): void {
    nested.set(agentId, messages);
  },
  loaded: () => all.value.length - from.value,
  painted,
};

export type Measured = typeof measured;

function painted(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve));
  });
}

Object.assign(window, { measured });
