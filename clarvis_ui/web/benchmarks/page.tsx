import '../src/ui/base.css';
import { batch, computed, signal } from '@preact/signals';
import { render } from 'preact';
import type { Routed } from '../src/api/routing';
import type { Partial, Turn, VisibleMessage } from '../src/conversation/conversation';
import { createExpandState } from '../src/lib/expanded';
import { Thread } from '../src/thread/Thread';
import { conversation, longReply } from './made';

/**
 * A conversation on its own, for measuring: whoever drives the browser says what happens, and
 * looks at what the page does.
 */

const PAGE = 200;
const PAGE_ARRIVES_MS = 20;
const DELTA = 6;
const DELTAS_A_FRAME = 20;

const all = signal<readonly VisibleMessage[]>([]);
const from = signal(0);
const shown = computed(() => all.value.slice(from.value));
const loading = signal(false);
const partial = signal<Partial | null>(null);
const turn = signal<Turn | null>(null);
const nothing = signal<ReadonlySet<string>>(new Set());
const noneRouted = signal<ReadonlyMap<string, Routed>>(new Map());
const expandState = createExpandState();
let reply = '';

/** As a keeper on this machine would: a moment later. */
function older(): void {
  if (loading.value) return;
  loading.value = true;
  setTimeout(() => {
    batch(() => {
      from.value = Math.max(0, from.value - PAGE);
      loading.value = false;
    });
  }, PAGE_ARRIVES_MS);
}

function App() {
  return (
    <Thread
      sessionId="measured"
      workdir={null}
      messages={shown.value}
      partial={partial}
      turn={turn.value}
      hasOlder={from.value > 0}
      loading={loading.value}
      expandState={expandState}
      onOlder={older}
      fetchSubagent={async () => []}
      waiting={nothing}
      unanswered={nothing}
      routed={noneRouted}
      onFork={() => {}}
      onRetry={() => {}}
      onEdit={() => {}}
      onOtherDirectory={() => {}}
    />
  );
}

function log(): HTMLElement {
  const element = document.querySelector<HTMLElement>('.log');
  if (!element) throw new Error('no conversation is shown');
  return element;
}

function painted(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve));
  });
}

const measured = {
  conversation,
  /** Shows the end of a conversation; resolves with the milliseconds until it could be seen. */
  async show(messages: readonly VisibleMessage[]): Promise<number> {
    const began = performance.now();
    all.value = messages;
    from.value = Math.max(0, messages.length - PAGE);
    const root = document.getElementById('clarvis');
    if (root) render(<App />, root);
    await painted();
    return performance.now() - began;
  },
  add(message: VisibleMessage): void {
    all.value = [...all.value, message];
  },
  loaded: () => shown.value.length,
  toTop: () => log().scrollTo({ top: 0 }),
  /** Makes up a reply that comes in so many pieces. */
  prepare(deltas: number): void {
    reply = longReply(deltas * DELTA);
  },
  /** The reply, piece by piece; resolves when the last one is there. */
  async stream(): Promise<void> {
    turn.value = { uuid: 'prompt', started: new Date().toISOString(), status: null };
    const block = { messageId: 'm', index: 0, kind: 'text', tool: null, toolUseId: null } as const;
    for (let at = 1; at * DELTA <= reply.length; at += 1) {
      partial.value = { ...block, text: reply.slice(0, at * DELTA) };
      if (at % DELTAS_A_FRAME === 0) await painted();
    }
    turn.value = null;
  },
  /** How far the end is from the lower edge of the window. */
  toEnd: () => log().scrollHeight - log().scrollTop - log().clientHeight,
  elements: () => document.querySelectorAll('*').length,
};

Object.assign(window, { measured });
