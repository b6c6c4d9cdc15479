// @vitest-environment happy-dom
import { signal } from '@preact/signals';
import { options, render } from 'preact';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Partial } from '../../src/api/messages';
import { createExpandState } from '../../src/lib/expanded';
import { Thread } from '../../src/thread/Thread';
import { prompt, reply } from '../support/messages';

const written = (text: string, index = 0): Partial => ({
  messageId: 'm',
  index,
  kind: 'text',
  text,
  tool: null,
  toolUseId: null,
});

const partial = signal<Partial | null>(null);
let root: HTMLElement;
let drawn: Set<string>;

beforeEach(async () => {
  globalThis.IntersectionObserver = class {
    observe() {}
    disconnect() {}
  } as unknown as typeof IntersectionObserver;
  partial.value = null;
  drawn = new Set();
  root = document.body.appendChild(document.createElement('div'));
  render(
    <Thread
      sessionId="s"
      workdir={null}
      messages={[prompt('p', 'Write it'), reply('r', 'So')]}
      partial={partial}
      turn={{ uuid: 'p', started: null, status: null }}
      hasOlder={false}
      loading={false}
      expandState={createExpandState()}
      onOlder={() => {}}
      fetchSubagent={async () => []}
      waiting={signal(new Set<string>())}
      unanswered={signal(new Set<string>())}
      routed={signal(new Map())}
      onFork={() => {}}
      onRetry={() => {}}
      onEdit={() => {}}
      onOtherDirectory={() => {}}
    />,
    root,
  );
  partial.value = written('The');
  await painted();
  options.diffed = ({ type }) => {
    if (typeof type === 'function') drawn.add(type.name);
  };
});

afterEach(() => {
  delete options.diffed;
  render(null, root);
  root.remove();
});

async function painted(): Promise<void> {
  for (let frame = 0; frame < 3; frame += 1) {
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  }
}

test('a delta draws the block that is being written, and nothing around it', async () => {
  partial.value = written('The quick fox');
  await painted();
  expect(root.textContent).toContain('The quick fox');
  expect(drawn).toContain('StreamingBlock');
  expect(drawn).not.toContain('Conversation');
  expect(drawn).not.toContain('Chunks');
  expect(drawn).not.toContain('TurnLine');
});

test('the beginning of another block draws the conversation again', async () => {
  partial.value = written('Next', 1);
  await painted();
  expect(drawn).toContain('Conversation');
});
