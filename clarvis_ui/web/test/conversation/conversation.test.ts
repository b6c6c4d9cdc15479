import { describe, expect, test } from 'vitest';
import type { KeeperEvent } from '../../src/api/events';
import {
  type ConversationEvent,
  type ConversationState,
  emptyConversation,
  queuedMessages,
  reduce,
  visibleMessages,
} from '../../src/conversation/conversation';
import { type OptimisticMessage, textOf } from '../../src/conversation/optimistic';
import { at, message, page, SESSION } from '../support/world';

function reduceAll(...events: ConversationEvent[]): ConversationState {
  return events.reduce(reduce, emptyConversation(SESSION));
}

const uuids = (state: ConversationState) => state.messages.map((one) => one.uuid);
const visible = visibleMessages;

const loaded = (...given: string[]): ConversationEvent => ({
  type: 'page/loaded',
  page: page({ messages: given.map((uuid) => message(uuid)) }),
});
const added = (seq: number, uuid: string, changes = {}, after: string | null = null) =>
  ({
    ...at(seq),
    type: 'message/added',
    message: message(uuid, changes),
    after,
  }) satisfies KeeperEvent;
const delta = (seq: number, text: string, changes = {}) =>
  ({
    ...at(seq),
    type: 'message/delta',
    messageId: 'm',
    index: 0,
    kind: 'text',
    text,
    tool: null,
    toolUseId: null,
    ...changes,
  }) satisfies KeeperEvent;

function pending(uuid: string, changes: Partial<OptimisticMessage> = {}): ConversationEvent {
  return {
    type: 'sending/begun',
    pending: {
      uuid,
      text: `words of ${uuid}`,
      content: [{ type: 'text', text: `words of ${uuid}` }],
      images: 0,
      state: 'sending',
      problem: null,
      behind: '2025-10-01T08:00:00.000Z',
      begun: 0,
      ...changes,
    },
  };
}

describe('what streams', () => {
  test('grows, and goes when it is finished', () => {
    const streaming = reduceAll(loaded('a'), delta(1, 'Hel'), delta(2, 'lo'));
    expect(streaming.partial?.text).toBe('Hello');
    const done = reduce(
      streaming,
      added(3, 'b', { messageId: 'm', content: [{ type: 'text', text: 'Hello' }] }),
    );
    expect(done.partial).toBe(null);
    expect(uuids(done)).toEqual(['a', 'b']);
  });

  test('is not told twice by a replay', () => {
    const state = reduceAll(loaded('a'), delta(1, 'Hel'), delta(2, 'lo'), delta(1, 'Hel'));
    expect(state.partial?.text).toBe('Hello');
  });

  test('goes on from what the page had of it', () => {
    const partial = {
      messageId: 'm',
      index: 0,
      kind: 'text' as const,
      text: 'Hel',
      tool: null,
      toolUseId: null,
    };
    const state = reduceAll(
      delta(4, 'el'),
      delta(5, 'lo'),
      { type: 'page/loaded', page: page({ partial, position: 'e1:4' }) },
      delta(6, '!'),
    );
    expect(state.partial?.text).toBe('Hello!');
  });

  test('the next block stays when the one before it is finished late', () => {
    const thinking = { kind: 'thinking' as const };
    const state = reduceAll(
      loaded(),
      delta(1, 'hm', thinking),
      delta(2, 'Now', { index: 1 }),
      added(3, 't', { messageId: 'm', content: [{ type: 'thinking', thinking: 'hm' }] }),
    );
    expect(state.partial?.text).toBe('Now');
  });

  test('is gone when its reply broke off, and only then', () => {
    const gone = (seq: number, messageId: string, index = 0): ConversationEvent => ({
      ...at(seq),
      type: 'message/withdrawn',
      messageId,
      index,
    });
    const streaming = reduceAll(loaded(), delta(1, 'half'));
    expect(reduce(streaming, gone(2, 'm')).partial).toBe(null);
    expect(reduce(streaming, gone(2, 'other')).partial?.text).toBe('half');
    expect(reduce(streaming, gone(2, 'm', 1)).partial?.text).toBe('half');
  });

  test('ends with its turn', () => {
    const over = { ...at(2), type: 'turn/finished', uuid: null, outcome: 'interrupted' } as const;
    const state = reduceAll(loaded(), delta(1, 'x'), {
      ...over,
      error: null,
      costUsd: null,
      durationMs: null,
    });
    expect(state.partial).toBe(null);
    expect(state.ended?.outcome).toBe('interrupted');
  });
});

describe('a message of ours', () => {
  test('is there at once, and is confirmed in its place', () => {
    const sent = reduceAll(loaded('a'), pending('u'));
    expect(visible(sent).at(-1)).toMatchObject({ uuid: 'u', optimistic: 'sending' });
    const confirmed = reduce(sent, added(1, 'u'));
    expect(visible(confirmed).map((one) => one.uuid)).toEqual(['a', 'u']);
    expect(visible(confirmed).at(-1)).not.toHaveProperty('optimistic');
  });

  test('that failed keeps its words and says why', () => {
    const problem = 'Clarvis does not answer.';
    const state = reduceAll(loaded('a'), pending('u'), {
      type: 'sending/failed',
      uuid: 'u',
      problem,
    });
    expect(visible(state).at(-1)).toMatchObject({ optimistic: 'failed', problem });
    expect(visible(state).at(-1)?.content).toEqual([{ type: 'text', text: 'words of u' }]);
  });

  test('that arrived although nobody said so is confirmed all the same', () => {
    const problem = 'Clarvis does not answer.';
    const state = reduceAll(
      loaded('a'),
      pending('u'),
      { type: 'sending/failed', uuid: 'u', problem },
      added(1, 'u'),
    );
    expect(state.optimistic).toEqual([]);
    expect(uuids(state)).toEqual(['a', 'u']);
  });

  const text = 'words of u';
  const later = '2025-10-01T09:00:00.000Z';

  test('that got another uuid is known by its words', () => {
    const state = reduceAll(
      loaded('a'),
      pending('u'),
      { type: 'sending/accepted', uuid: 'u' },
      added(1, 'x', { content: [{ type: 'text', text }], timestamp: later }),
    );
    expect(state.optimistic).toEqual([]);
  });

  test('is not taken for something that was said before', () => {
    const old = added(1, 'x', { content: [{ type: 'text', text }] });
    const state = reduceAll(loaded('a'), old, pending('u'), {
      type: 'sending/accepted',
      uuid: 'u',
    });
    expect(state.optimistic).toHaveLength(1);
  });

  test('said twice is shown twice', () => {
    const state = reduceAll(
      loaded('a'),
      pending('u1', { text: 'yes' }),
      pending('u2', { text: 'yes' }),
      { type: 'sending/accepted', uuid: 'u1' },
      { type: 'sending/accepted', uuid: 'u2' },
      added(1, 'u1', { content: [{ type: 'text', text: 'yes' }], timestamp: later }),
    );
    expect(visible(state).map((one) => one.uuid)).toEqual(['a', 'u1', 'u2']);
  });

  test('waits as a chip while a turn runs', () => {
    const state = reduceAll(
      loaded('a'),
      { ...at(1), type: 'turn/started', uuid: 'a' },
      pending('u'),
    );
    expect(queuedMessages(state).map((queued) => queued.uuid)).toEqual(['u']);
    expect(visible(state).map((one) => one.uuid)).toEqual(['a']);
  });

  test('of somebody else is shown as soon as the keeper has taken it, and once', () => {
    const taken = { uuid: 'u', text: 'hello', images: 0, state: 'taken' as const };
    const turn = { uuid: 'u', started: null, status: null };
    const state = reduceAll({ type: 'page/loaded', page: page({ queue: [taken], turn }) });
    expect(visible(state)).toMatchObject([{ uuid: 'u', kind: 'prompt', optimistic: 'taken' }]);
    expect(visible(state)[0]).toBe(visible(state)[0]);
    expect(visible(reduce(state, added(1, 'u')))).toMatchObject([{ uuid: 'u' }]);
    // under another uuid of Claude Code's own, or as a command
    const copy = added(1, 'c', { content: [{ type: 'text', text: 'hello' }] });
    expect(visible(reduce(state, copy)).map((one) => one.uuid)).toEqual(['c']);
    const command = { ...taken, text: '/compact' };
    expect(
      visible(reduceAll({ type: 'page/loaded', page: page({ queue: [command], turn }) })),
    ).toEqual([]);
    const over = { ...at(1), type: 'turn/finished', uuid: 'u', outcome: 'done', error: null };
    expect(visible(reduce(state, over as ConversationEvent))).toEqual([]);
    const failed = { ...over, outcome: 'failed', error: 'It crashed.' } as ConversationEvent;
    expect(visible(reduce(state, failed))).toMatchObject([{ uuid: 'u', problem: 'It crashed.' }]);
  });

  test('taken back is gone', () => {
    const queued = { uuid: 'u', text: 'x', images: 0 };
    const state = reduceAll(
      loaded('a'),
      pending('u'),
      { ...at(1), type: 'queue/updated', queue: [{ ...queued, state: 'queued' }] },
      { ...at(2), type: 'queue/updated', queue: [{ ...queued, state: 'cancelled' }] },
    );
    expect(queuedMessages(state)).toEqual([]);
    expect(state.optimistic).toEqual([]);
  });

  test('that is held waits in line, over pages and restarts, and did not fail', () => {
    const queue = [{ uuid: 'u', text: 'x', images: 0, state: 'held' as const }];
    const state = reduceAll(
      loaded('a'),
      pending('u'),
      { type: 'sending/accepted', uuid: 'u' },
      { ...at(1), type: 'queue/updated', queue },
      { type: 'stream/broken' },
      { type: 'page/loaded', page: page({ queue, position: 'e2:0' }), accepted: ['u'] },
    );
    expect(queuedMessages(state)).toMatchObject([{ uuid: 'u', state: 'held' }]);
    expect(visible(state)).toEqual([]);
    expect(state.optimistic).toMatchObject([{ uuid: 'u', state: 'accepted' }]);
  });

  test('that failed here and is held there is told once', () => {
    const state = reduceAll(
      loaded('a'),
      pending('u'),
      { type: 'sending/failed', uuid: 'u', problem: 'lost' },
      {
        ...at(1),
        type: 'queue/updated',
        queue: [{ uuid: 'u', text: 'x', images: 0, state: 'held' }],
      },
    );
    expect(visible(state).map((one) => one.uuid)).toEqual(['a']);
    expect(queuedMessages(state)).toHaveLength(1);
  });

  test('that went down with the keeper can be sent again', () => {
    const state = reduceAll(
      loaded('a'),
      pending('u'),
      { type: 'sending/accepted', uuid: 'u' },
      { type: 'stream/broken' },
      { type: 'page/loaded', page: page({ position: 'e2:0' }), accepted: ['u'] },
    );
    expect(visible(state).at(-1)).toMatchObject({ uuid: 'u', optimistic: 'failed' });
  });

  test('that waits until a turn goes on is with the keeper, and not lost', () => {
    const behind = page({ position: 'e2:0', interruptedQueue: ['u', 'late'] });
    const state = reduceAll(
      loaded('a'),
      pending('u'),
      { type: 'sending/accepted', uuid: 'u' },
      pending('late'),
      { type: 'sending/failed', uuid: 'late', problem: 'The keeper does not answer.' },
      { type: 'stream/broken' },
      { type: 'page/loaded', page: behind, accepted: ['u'] },
    );
    // what is left of the turn says them, with one way on for all
    expect(visible(state)).toEqual([]);
    expect(state.optimistic).toEqual([]);
  });

  test('that could not be worked on says why', () => {
    const error = { code: 'cli_failed', message: 'Claude Code does not start.' };
    const state = reduceAll(loaded(), pending('u'), {
      ...at(1),
      type: 'session/failed',
      uuid: 'u',
      error,
    });
    // there, and nowhere else; whatever is told of its turn afterwards
    const over = { ...at(2), type: 'turn/finished', uuid: 'u', outcome: 'failed' } as const;
    for (const end of [state, reduce(state, { ...over, error: 'x', costUsd: 0, durationMs: 0 })]) {
      expect(visible(end)).toMatchObject([{ optimistic: 'failed', problem: error.message }]);
    }
  });

  test('is the same object as long as nothing about it changes', () => {
    const state = reduceAll(loaded('a'), pending('u'));
    expect(visible(reduce(state, delta(1, 'x'))).at(-1)).toBe(visible(state).at(-1));
  });
});

describe('after a restart of the keeper', () => {
  test('its new counting is taken from the beginning', () => {
    const other = { epoch: 'e2', seq: 1 };
    const state = reduceAll(
      loaded('a'),
      added(50, 'b'),
      { type: 'stream/broken' },
      { ...added(1, 'c'), position: other },
      {
        type: 'page/loaded',
        page: page({ messages: [message('a'), message('b')], position: 'e2:0' }),
      },
    );
    expect(uuids(state)).toEqual(['a', 'b', 'c']);
  });
});

test('why it broke down is told once: where its last line says so, only there', () => {
  const failed: KeeperEvent = {
    ...at(2),
    type: 'session/failed',
    uuid: null,
    error: { code: 'api_error', message: 'API Error: 400' },
  };
  const line = { kind: 'error', content: [{ type: 'text', text: 'API Error: 400' }] };
  const last = (state: ConversationState) => textOf(visible(state).at(-1)?.content ?? []);
  expect(last(reduceAll(loaded('a'), failed))).toBe('Not sent. API Error: 400');
  expect(last(reduceAll(loaded('a'), added(1, 'b', line), failed))).toBe('API Error: 400');
});

describe('a turn that was cut off', () => {
  const cut = {
    uuid: 'p',
    ended: '2025-10-01T08:00:10.000Z',
    error: { code: 'cli_crashed', message: 'It was killed.' },
    had: true,
    prompt: null,
    messages: [],
    blocks: [
      {
        messageId: 'm',
        index: 0,
        kind: 'text' as const,
        text: 'Half',
        tool: null,
        toolUseId: null,
      },
    ],
  };
  const later = '2025-10-01T08:00:20.000Z';
  const words = (state: ConversationState) => visible(state).map((one) => textOf(one.content));

  test('comes before what Claude Code writes in place of a reply when it goes on', () => {
    const filler = message('f', {
      kind: 'reply',
      model: '<synthetic>',
      content: [{ type: 'text', text: 'No response requested.' }],
      timestamp: later,
    });
    const state = reduceAll({
      type: 'page/loaded',
      page: page({ messages: [filler], failed: [cut] }),
    });
    expect(words(state)).toEqual(['Half', 'Cut off. It was killed.', 'No response requested.']);
  });

  test('whose prompt is sent again shows it where it failed until the keeper has it', () => {
    const prompt = { uuid: 'p', content: [{ type: 'text', text: 'words of p' }] };
    const unsent = { ...cut, had: false, prompt, blocks: [] };
    const again = reduceAll(
      { type: 'page/loaded', page: page({ failed: [unsent] }) },
      pending('p'),
      { ...at(1), type: 'turn/started', uuid: 'q' },
    );
    expect(visible(again)).toMatchObject([{ uuid: 'p', optimistic: 'failed' }]);
    expect(queuedMessages(again)).toEqual([]);
    const queued = { uuid: 'p', text: 'words of p', state: 'queued' as const, images: 0 };
    const there = reduce(again, { ...at(2), type: 'queue/updated', queue: [queued] });
    expect(visible(there)).toEqual([]);
    expect(queuedMessages(there)).toEqual([queued]);
  });

  test('whose prompt runs again shows it once, as not failed', () => {
    const prompt = { uuid: 'p', content: [{ type: 'text', text: 'words of p' }] };
    const state = reduceAll(
      { type: 'page/loaded', page: page({ failed: [{ ...cut, prompt }] }) },
      pending('p'),
      { ...at(1), type: 'turn/started', uuid: 'p' },
    );
    expect(words(state)).toEqual(['Half', 'Cut off. It was killed.', 'words of p']);
    expect(visible(state).at(-1)).toMatchObject({ uuid: 'p', optimistic: 'sending' });
  });

  test('of which the transcript says why leaves no word behind what comes next', () => {
    const error = { code: 'api_error', message: 'API Error: 400' };
    const line = { kind: 'error', content: [{ type: 'text', text: error.message }] };
    const state = reduceAll(
      loaded('a'),
      added(1, 'p', {}, 'a'),
      added(2, 'b', { ...line, role: 'assistant' }, 'p'),
      { ...at(3), type: 'session/failed', uuid: 'p', error },
      added(4, 'q', {}, 'b'),
      added(5, 'c', { kind: 'reply', role: 'assistant' }, 'q'),
    );
    expect(visible(state).map((one) => one.uuid)).toEqual(['a', 'p', 'b', 'q', 'c']);
  });
});
