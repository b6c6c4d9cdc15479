import { effect } from '@preact/signals';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createEventBus } from '../../src/api/eventBus';
import { failed, success } from '../../src/api/result';
import type { Prompt } from '../../src/api/send';
import { queuedMessages, visibleMessages } from '../../src/conversation/conversation';
import {
  type ConversationStore,
  type ConversationStoreOptions,
  createConversationStore,
} from '../../src/conversation/conversationStore';
import { createOpenConversations } from '../../src/conversation/openConversations';
import { createOutbox } from '../../src/conversation/outbox';
import { createBrowserStorage } from '../../src/lib/storage';
import { FakeApi, FakeStorage } from '../support/fakes';
import { sample } from '../support/samples';
import { at, message, page, SESSION } from '../support/world';

let api: FakeApi;
let storage: FakeStorage;
let needs: ConversationStoreOptions;
let conversationStore: ConversationStore;

const soon = () => vi.advanceTimersByTimeAsync(0);
const visible = (one: ConversationStore = conversationStore) =>
  visibleMessages(one.conversation.value);
const sentUuids = () =>
  api.requests
    .filter((what) => what.startsWith('send '))
    .map((what) => (JSON.parse(what.slice(5)) as Prompt).uuid);

beforeEach(async () => {
  vi.useFakeTimers();
  api = new FakeApi();
  storage = new FakeStorage();
  api.answers.conversation = page({ messages: [message('a')] });
  api.answers.send = { sessionId: SESSION, state: 'running' };
  needs = {
    api,
    events: createEventBus(),
    socket: { remember: () => {}, covers: () => true },
    outbox: createOutbox(createBrowserStorage(storage)),
    retryDelay: (failures) => failures * 1000,
    onSession: () => {},
  };
  conversationStore = createConversationStore(SESSION, needs);
  await soon();
});

afterEach(() => {
  conversationStore.stop();
  vi.useRealTimers();
});

describe('a failed send', () => {
  test('keeps its words, says why, and goes again under the same uuid', async () => {
    api.trouble = 'keeper_unreachable';
    conversationStore.send('hello', []);
    await soon();
    expect(visible().at(-1)).toMatchObject({
      optimistic: 'failed',
      problem: 'said keeper_unreachable',
    });
    api.trouble = null;
    conversationStore.retry(visible().at(-1)?.uuid as string);
    await soon();
    expect(visible().at(-1)).toMatchObject({ optimistic: 'sending' });
    expect(sentUuids()).toHaveLength(2);
    expect(new Set(sentUuids()).size).toBe(1);
  });

  test('outlives a refresh', async () => {
    api.trouble = 'keeper_unreachable';
    conversationStore.send('hello', [{ mediaType: 'image/png', data: 'AAAA' }]);
    await soon();
    api.trouble = null;
    const again = createConversationStore(SESSION, needs);
    await soon();
    expect(visible(again).at(-1)).toMatchObject({ optimistic: 'failed' });
    expect(visible(again).at(-1)?.content).toHaveLength(2);
    again.stop();
  });

  test('is kept without its images where they do not fit', async () => {
    api.trouble = 'keeper_unreachable';
    storage.setItem = (key, value) => {
      if (value.length > 400) throw new Error('full');
      storage.kept.set(key, value);
    };
    conversationStore.send('hello', [{ mediaType: 'image/png', data: 'A'.repeat(1000) }]);
    await soon();
    expect([...storage.kept.values()].join()).toContain('hello');
  });
});

describe('a session that somebody else runs', () => {
  const refuse = (prompt: Prompt) =>
    prompt.wait === false && !prompt.fork
      ? failed('session_elsewhere', 'It runs elsewhere.', ['watch', 'fork', 'wait'])
      : success({ sessionId: prompt.fork ? 'copy' : SESSION, state: 'idle' });
  const optimistic = (one: ConversationStore = conversationStore) =>
    one.conversation.value.optimistic.map(({ text, state }) => [text, state]);
  let prompts: Prompt[];

  beforeEach(async () => {
    prompts = [];
    api.send = async (prompt) => {
      prompts.push(prompt);
      return refuse(prompt);
    };
    conversationStore.send('hello', []);
    await soon();
  });

  test('takes no message, and keeps it until the person has chosen', async () => {
    expect(optimistic()).toEqual([['hello', 'elsewhere']]);
    expect(visible().map((one) => one.uuid)).toEqual(['a']);
    const again = createConversationStore(SESSION, needs);
    await soon();
    expect(optimistic(again)).toEqual([['hello', 'elsewhere']]);
    again.stop();
  });

  test('is only watched: the words come back, and nothing is asked of the keeper', async () => {
    const uuid = conversationStore.conversation.value.optimistic[0]?.uuid as string;
    api.requests = [];
    expect(conversationStore.withdraw(uuid)).toMatchObject({ text: 'hello' });
    expect(optimistic()).toEqual([]);
    expect(api.requests).toEqual([]);
  });

  test('is waited for under the same uuid', async () => {
    const uuid = conversationStore.conversation.value.optimistic[0]?.uuid as string;
    expect(await conversationStore.sendElsewhere(uuid, 'wait')).toBeNull();
    expect(prompts.at(-1)).toMatchObject({ sessionId: SESSION, uuid });
    expect(optimistic()).toEqual([['hello', 'accepted']]);
  });

  test('is gone on with in a copy, which has the message from the first moment', async () => {
    const uuid = conversationStore.conversation.value.optimistic[0]?.uuid as string;
    expect(await conversationStore.sendElsewhere(uuid, 'fork')).toBe('copy');
    expect(prompts.at(-1)).toMatchObject({ sessionId: SESSION, uuid, fork: true });
    expect(optimistic()).toEqual([]);
    expect(needs.outbox.restore('copy')).toMatchObject([{ uuid, state: 'accepted' }]);
  });
});

describe('a delta', () => {
  const delta = (seq: number, text: string) =>
    ({
      ...at(seq),
      type: 'message/delta',
      messageId: 'm',
      index: 0,
      kind: 'text',
      text,
      tool: null,
      toolUseId: null,
    }) as const;

  test('changes the partial and leaves the conversation the very same', () => {
    const before = conversationStore.conversation.value;
    conversationStore.handle(delta(1, 'Hel'));
    conversationStore.handle(delta(2, 'lo'));
    expect(conversationStore.partial.value?.text).toBe('Hello');
    expect(conversationStore.conversation.value).toBe(before);
  });

  test('is replaced by its message at one moment', () => {
    conversationStore.handle(delta(1, 'Hello'));
    const seen: [string | undefined, number][] = [];
    const stop = effect(() => {
      seen.push([
        conversationStore.partial.value?.text,
        conversationStore.conversation.value.messages.length,
      ]);
    });
    const reply = message('r', {
      role: 'assistant',
      kind: 'reply',
      messageId: 'm',
      content: [{ type: 'text', text: 'Hello' }],
    });
    conversationStore.handle({ ...at(2), type: 'message/added', message: reply, after: null });
    stop();
    expect(seen).toEqual([
      ['Hello', 1],
      [undefined, 2],
    ]);
  });
});

test('where every place is taken a message stands in line', async () => {
  const waits: unknown[] = [];
  api.send = async ({ wait }) => {
    waits.push(wait);
    return wait
      ? success({ sessionId: SESSION, state: 'idle' })
      : failed('keeper_busy', 'All places are taken.');
  };
  conversationStore.send('hello', []);
  await soon();
  expect(waits).toEqual([false, true]);
  expect(conversationStore.conversation.value.optimistic[0]?.state).toBe('accepted');
});

describe('what is on its way', () => {
  test('is forgotten once it is confirmed', async () => {
    conversationStore.send('hello', []);
    expect(storage.kept.size).toBe(1);
    await soon();
    const [uuid] = sentUuids();
    conversationStore.handle({
      ...at(5),
      type: 'message/added',
      message: message(uuid as string),
      after: null,
    });
    expect(storage.kept.size).toBe(0);
    expect(visible().map((one) => one.uuid)).toEqual(['a', uuid]);
  });

  test('when the page was left is doubtful until the keeper is asked', async () => {
    api.send = () => new Promise(() => {});
    conversationStore.send('hello', []);
    const [uuid] = conversationStore.conversation.value.optimistic.map((pending) => pending.uuid);
    const arrived = page({ messages: [message('a'), message(uuid as string)] });
    api.answers.conversation = arrived;
    const again = createConversationStore(SESSION, needs);
    await soon();
    expect(visible(again).map((one) => one.optimistic)).toEqual([undefined, undefined]);
    again.stop();
  });

  test('and never arrived can be sent again', async () => {
    api.send = () => new Promise(() => {});
    conversationStore.send('hello', []);
    const again = createConversationStore(SESSION, needs);
    await soon();
    expect(visible(again).at(-1)).toMatchObject({ optimistic: 'failed' });
    again.stop();
  });

  test('and never arrived in a session that runs can be sent again too', async () => {
    api.send = () => new Promise(() => {});
    conversationStore.send('hello', []);
    conversationStore.send('this one waits', []);
    conversationStore.send('this one runs', []);
    const [, waiting, running] = conversationStore.conversation.value.optimistic.map(
      (pending) => pending.uuid,
    );
    api.answers.conversation = page({
      messages: [message('a')],
      session: sample(1, { state: 'running' }),
      queue: [{ uuid: waiting as string, text: 'this one waits', images: 0, state: 'queued' }],
      turn: { uuid: running as string, started: null, status: null },
    });
    const again = createConversationStore(SESSION, needs);
    await soon();
    const optimistic = again.conversation.value.optimistic.map(({ text, state }) => [text, state]);
    expect(optimistic).toEqual([
      ['hello', 'failed'],
      ['this one waits', 'accepted'],
      ['this one runs', 'accepted'],
    ]);
    again.stop();
  });

  test('is no message of this page any more once it has left the line', async () => {
    conversationStore.send('hello', []);
    await soon();
    const [uuid] = sentUuids();
    // what waits is taken out of the line, not out of the page
    expect(conversationStore.withdraw(uuid as string)).toBe(null);
    conversationStore.removeQueued(uuid as string);
    expect(visible().map((one) => one.uuid)).toEqual(['a']);
    expect(storage.length).toBe(0);
  });

  test('that failed is taken back everywhere: it may have arrived all the same', async () => {
    api.trouble = 'clarvis_unreachable';
    conversationStore.send('hello', []);
    await soon();
    const [uuid] = sentUuids();
    // whoever wants to change it does not wait for a keeper that may be away
    expect(conversationStore.withdraw(uuid as string)).toMatchObject({ text: 'hello' });
    expect(conversationStore.conversation.value.optimistic).toEqual([]);
    expect(api.requests.at(-1)).toBe(`cancelQueued ${SESSION} ${uuid}`);
  });
});

describe('who stops a turn', () => {
  test('waits until the keeper has what was sent before', async () => {
    let stopped = false;
    const stop = (): void => {
      void conversationStore.settled().then(() => {
        stopped = true;
      });
    };
    stop();
    await soon();
    expect(stopped).toBe(true);
    stopped = false;
    api.hold();
    conversationStore.send('hello', []);
    stop();
    await soon();
    expect(stopped).toBe(false);
    api.release?.();
    await soon();
    expect(stopped).toBe(true);
    expect(conversationStore.conversation.value.optimistic).toMatchObject([{ state: 'accepted' }]);
  });

  test('waits not for long: what has not arrived by then is not sent, and kept', async () => {
    needs.api.send = (_, signal) =>
      new Promise((resolve) => {
        signal?.addEventListener('abort', () => resolve(failed('cancelled', 'not wanted')));
      });
    conversationStore.send('hello', []);
    const sent = conversationStore.settled();
    await vi.advanceTimersByTimeAsync(2000);
    await sent;
    expect(visible().at(-1)).toMatchObject({
      optimistic: 'failed',
      problem: 'It was stopped before it had arrived.',
    });
  });
});

describe('a message for which what runs is stopped', () => {
  const wishes = () =>
    api.requests
      .filter((what) => what.startsWith('send '))
      .map((what) => (JSON.parse(what.slice(5)) as Prompt).interrupt);

  test('is one request, and says so again when it is repeated, also after a refresh', async () => {
    api.trouble = 'keeper_unreachable';
    conversationStore.send('hello', [], true);
    await soon();
    const [uuid] = sentUuids() as [string];
    conversationStore.retry(uuid);
    await soon();
    const again = createConversationStore(SESSION, needs);
    await soon();
    api.trouble = null;
    again.retry(uuid);
    await soon();
    expect(wishes()).toEqual([true, true, true]);
    expect(new Set(sentUuids())).toEqual(new Set([uuid]));
    again.stop();
  });

  test('is the first in line, and says why', async () => {
    conversationStore.handle({ type: 'turn/started', ...at(1), uuid: 'a' });
    conversationStore.handle({
      type: 'queue/updated',
      ...at(2),
      queue: [{ uuid: 'q', text: 'waits', state: 'queued', images: 0 }],
    });
    conversationStore.send('hello', [], true);
    expect(
      queuedMessages(conversationStore.conversation.value).map(({ text, interrupt }) => [
        text,
        interrupt,
      ]),
    ).toEqual([
      ['hello', true],
      ['waits', undefined],
    ]);
  });

  test('stops nothing where it goes on in a copy', async () => {
    api.trouble = 'session_elsewhere';
    conversationStore.send('hello', [], true);
    await soon();
    api.trouble = null;
    api.answers.send = { sessionId: 'copy', state: 'running' };
    expect(await conversationStore.sendElsewhere(sentUuids()[0] as string, 'fork')).toBe('copy');
    expect(wishes()).toEqual([true, undefined]);
  });

  test('a message like any other asks for nothing', async () => {
    conversationStore.send('hello', []);
    await soon();
    expect(wishes()).toEqual([undefined]);
  });
});

describe('loading', () => {
  test('is tried again until it succeeds', async () => {
    api.trouble = 'keeper_unreachable';
    conversationStore.reload();
    await soon();
    expect(conversationStore.failure.value?.code).toBe('keeper_unreachable');
    expect(visible().map((one) => one.uuid)).toEqual(['a']);
    api.trouble = null;
    await vi.advanceTimersByTimeAsync(1000);
    expect(conversationStore.failure.value).toBe(null);
    expect(conversationStore.conversation.value.heldEvents).toBe(null);
  });

  test('a page from before we listened is asked for again', async () => {
    needs.socket.covers = () => false;
    const late = createConversationStore(SESSION, needs);
    await soon();
    expect(late.conversation.value.loaded).toBe(false);
    needs.socket.covers = () => true;
    await vi.advanceTimersByTimeAsync(1000);
    expect(late.conversation.value.loaded).toBe(true);
    late.stop();
  });

  test('a session that is not there is not asked for again and again', async () => {
    api.trouble = 'session_not_found';
    conversationStore.reload();
    await soon();
    api.requests = [];
    await vi.advanceTimersByTimeAsync(60_000);
    expect(api.requests).toEqual([]);
  });

  test('a session that is said to be gone is not here any more', async () => {
    api.trouble = 'session_not_found';
    conversationStore.handle({ type: 'session/removed', ...at(8) });
    await soon();
    expect(conversationStore.failure.value?.code).toBe('session_not_found');
  });

  test('a session that was deleted is asked for once it is there again', async () => {
    api.trouble = 'session_not_found';
    conversationStore.reload();
    await soon();
    api.trouble = null;
    api.answers.conversation = page({ messages: [message('reborn')], position: 'e1:8' });
    conversationStore.handle({ type: 'session/updated', session: sample(1), ...at(8) });
    await soon();
    expect(conversationStore.failure.value).toBeNull();
    expect(visible().map(({ uuid }) => uuid)).toEqual(['reborn']);
  });

  test('after a hole asks for as much as was shown', async () => {
    const many = Array.from({ length: 400 }, (_, n) => message(`m${n}`));
    api.answers.conversation = page({ messages: many, position: 'e1:9' });
    conversationStore.reload();
    await soon();
    conversationStore.reload();
    await soon();
    expect(api.requests.at(-1)).toBe(`conversation ${SESSION} null 400`);
  });
});

test('more than a page above is asked for at once, up to what one answer may hold', async () => {
  api.answers.conversation = page({ messages: [message('b')], before: 'b' });
  conversationStore.reload();
  await soon();
  conversationStore.loadOlder(4);
  await soon();
  expect(api.requests.at(-1)).toBe(`conversation ${SESSION} b 600`);
  conversationStore.loadOlder(1 << 20);
  await soon();
  expect(api.requests.at(-1)).toBe(`conversation ${SESSION} b 10000`);
});

describe('several conversations', () => {
  test('hear each its own', async () => {
    api.answers.conversation = (id: string) =>
      page({ messages: [message(`first of ${id}`)], position: 'e1:0' });
    const conversations = createOpenConversations(needs);
    const [one, other] = [conversations.open('one'), conversations.open('other')];
    await soon();
    needs.events.publish([
      { ...at(1), sessionId: 'one', type: 'message/added', message: message('x'), after: null },
      { ...at(2), sessionId: 'nobody', type: 'message/added', message: message('y'), after: null },
    ]);
    expect(visible(one).map((each) => each.uuid)).toEqual(['first of one', 'x']);
    expect(visible(other).map((each) => each.uuid)).toEqual(['first of other']);
    conversations.forget();
  });

  test('a new one shows its first message from the beginning', async () => {
    api.answers.conversation = page();
    api.answers.send = { sessionId: 'new', state: 'starting' };
    const conversations = createOpenConversations(needs);
    const outcome = await conversations.deliver({
      uuid: 'u',
      text: 'begin',
      to: { workdir: '/code' },
    });
    expect(outcome).toEqual({ ok: true, value: 'new' });
    expect(visible(conversations.open('new'))).toMatchObject([
      { content: [{ text: 'begin' }], optimistic: 'sending' },
    ]);
    conversations.forget();
  });

  test('the open one is asked for again after a resync, the others when they are opened', async () => {
    const conversations = createOpenConversations(needs);
    conversations.open('one');
    const other = conversations.open('other');
    await soon();
    api.requests = [];
    conversations.resync(null);
    await soon();
    expect(api.requests).toEqual(['conversation other null 150']);
    expect(conversations.open('other')).toBe(other);
    conversations.forget();
  });
});
