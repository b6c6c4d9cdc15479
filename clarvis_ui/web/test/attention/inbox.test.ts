import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Attention, Decision } from '../../src/api/attention';
import { createEventBus, type EventBus } from '../../src/api/eventBus';
import type { KeeperEvent } from '../../src/api/events';
import { tabTitle } from '../../src/app/tabTitle';
import { createAnswerDrafts, NO_CHOICE } from '../../src/attention/answerDrafts';
import { lastSettledIn, openBySession } from '../../src/attention/inbox';
import { createNotifications, type Notifier, notifierOf } from '../../src/attention/notifications';
import { type AttentionStore, browserName, createAttentionStore } from '../../src/attention/store';
import { type BrowserStorage, createBrowserStorage } from '../../src/lib/storage';
import { FakeApi, FakeStorage } from '../support/fakes';

let api: FakeApi;
let storage: BrowserStorage;
let events: EventBus;
let attentionStore: AttentionStore;

function question(id: string, changes: Partial<Attention> = {}): Attention {
  return {
    id,
    sessionId: 's',
    toolUseId: null,
    tool: 'Bash',
    input: { command: 'ls' },
    kind: 'permission',
    title: null,
    description: null,
    suggestions: [],
    grants: [],
    blockedPath: null,
    reason: null,
    agentId: null,
    origin: 'gateway',
    raised: `2025-10-01T08:00:0${id}Z`,
    ...changes,
  };
}

const raised = (id: string, changes = {}): KeeperEvent => ({
  type: 'attention/raised',
  position: null,
  sessionId: 's',
  attention: question(id, changes),
});
const settled = (attentionId: string, decision: Decision, by: string | null): KeeperEvent => ({
  type: 'attention/settled',
  position: null,
  sessionId: 's',
  attentionId,
  decision,
  by,
});
const open = () => attentionStore.inbox.value.open.map(({ id }) => id);

beforeEach(() => {
  api = new FakeApi();
  storage = createBrowserStorage(new FakeStorage());
  events = createEventBus();
  api.answers.attention = [];
  attentionStore = createAttentionStore(api, events, createAnswerDrafts(storage), 'me');
});

afterEach(() => attentionStore.forget());

describe('an answer that was begun', () => {
  const draft = {
    open: 'deny',
    text: 'not like\nthis',
    choices: { 'Which one?': { ...NO_CHOICE, labels: ['This', 'That'] } },
  };
  const first = question('1');
  const second = question('2', { input: { command: 'rm' } });
  const afterARefresh = (attention: Attention) => createAnswerDrafts(storage).read(attention);

  test('is there after a refresh, as long as it is asked for', async () => {
    attentionStore.drafts.write(first, draft);
    attentionStore.drafts.write(second, draft);
    api.answers.attention = [first, second];
    attentionStore.reload();
    await vi.waitFor(() => expect(open()).toEqual(['1', '2']));
    events.publish([settled('2', 'allow', 'somebody')]);
    expect(afterARefresh(first)).toEqual(draft);
    expect(afterARefresh(second).open).toBeNull();
  });

  const later = question('9');

  test('is there when the same is asked anew after a restart of the keeper', async () => {
    attentionStore.drafts.write({ ...first, input: { command: 'ls', why: 1 } }, draft);
    attentionStore.reload(); // nothing is open there
    await vi.waitFor(() => expect(storage.keys('answer.')).toEqual([]));
    expect(afterARefresh({ ...later, input: { why: 1, command: 'ls' } })).toEqual(draft);
    // and is that question's own from then on
    expect(storage.keys('unanswered.')).toEqual([]);
    attentionStore.drafts.forget('9');
    expect(storage.keys('')).toEqual([]);
  });

  test('is there when the same is asked again after it was withdrawn', () => {
    events.publish([raised('1')]);
    attentionStore.drafts.write(first, draft);
    events.publish([settled('1', 'withdrawn', null)]);
    expect(afterARefresh(later)).toEqual(draft);
  });

  test.each([
    ['another input', { input: { command: 'ls -a' } }],
    ['another tool', { tool: 'Read' }],
    ['another session', { sessionId: 'other' }],
  ])('is not there for %s', (_, changes) => {
    attentionStore.drafts.write(first, draft);
    attentionStore.drafts.withdraw('1');
    expect(afterARefresh(question('9', changes)).open).toBeNull();
  });

  test('is forgotten after a day in which nobody asked again', () => {
    const yesterday = createAnswerDrafts(storage, () => Date.now() - 25 * 3_600_000);
    yesterday.write(first, draft);
    yesterday.withdraw('1');
    attentionStore.drafts.keepOnly([]);
    expect(storage.keys('')).toEqual([]);
  });

  test('is there as long as the page is, where the browser keeps nothing', () => {
    storage = createBrowserStorage(null);
    createAnswerDrafts(storage).write(first, draft);
    expect(afterARefresh(first)).toEqual(draft);
    createAnswerDrafts(storage).forget('1');
    expect(afterARefresh(first).open).toBeNull();
  });

  test('that is put back leaves nothing', () => {
    attentionStore.drafts.write(first, draft);
    attentionStore.drafts.write(first, { open: null, text: null, choices: {} });
    expect(storage.keys('')).toEqual([]);
  });
});

describe('what waits', () => {
  test('is told once however often it is raised, the oldest first', () => {
    events.publish([raised('2'), raised('1'), raised('2')]);
    expect(open()).toEqual(['1', '2']);
  });

  test('is known by session', () => {
    events.publish([raised('1'), raised('2', { sessionId: 'other' }), raised('3')]);
    const bySession = openBySession(attentionStore.inbox.value);
    expect(bySession.get('s')?.map(({ id }) => id)).toEqual(['1', '3']);
    expect(bySession.get('other')?.map(({ id }) => id)).toEqual(['2']);
  });

  test('and was answered in the terminal a moment before us is put right', async () => {
    events.publish([raised('1', { origin: 'terminal' })]);
    await attentionStore.answer('1', { decision: 'deny' });
    events.publish([settled('1', 'allow', 'terminal'), settled('1', 'deny', 'me')]);
    expect(lastSettledIn(attentionStore.inbox.value, 's')).toMatchObject({
      decision: 'allow',
      by: 'terminal',
      mine: false,
    });
  });

  test('and was settled elsewhere says by whom, and a replay does not bring it back', () => {
    events.publish([raised('1'), settled('1', 'deny', 'Clarvis on iPhone'), raised('1')]);
    expect(open()).toEqual([]);
    expect(lastSettledIn(attentionStore.inbox.value, 's')).toMatchObject({
      decision: 'deny',
      by: 'Clarvis on iPhone',
      mine: false,
    });
  });

  test('is what the keeper lists, and what was raised since', async () => {
    events.publish([raised('1'), raised('2')]);
    api.answers.attention = [question('2'), question('3')];
    api.hold();
    attentionStore.reload();
    events.publish([raised('4')]);
    api.release?.();
    await vi.waitFor(() => expect(open()).toEqual(['2', '3', '4']));
    expect(lastSettledIn(attentionStore.inbox.value, 's')).toMatchObject({ decision: 'gone' });
  });
});

describe('an answer', () => {
  test('settles it, and says that it was ours', async () => {
    events.publish([raised('1')]);
    await attentionStore.answer('1', { decision: 'allow' });
    expect(api.requests).toEqual(['resolve 1 {"decision":"allow"} me']);
    expect(lastSettledIn(attentionStore.inbox.value, 's')).toMatchObject({ mine: true });
  });

  test('given twice goes out once', async () => {
    events.publish([raised('1')]);
    await Promise.all([
      attentionStore.answer('1', { decision: 'allow' }),
      attentionStore.answer('1', { decision: 'deny' }),
    ]);
    expect(api.requests).toHaveLength(1);
  });

  test('that was not taken leaves the card and says why', async () => {
    events.publish([raised('1')]);
    api.trouble = 'keeper_unreachable';
    await attentionStore.answer('1', { decision: 'allow' });
    expect(open()).toEqual(['1']);
    expect(attentionStore.inbox.value.problems.get('1')).toBe('said keeper_unreachable');
    expect(attentionStore.inbox.value.answering.size).toBe(0);
  });

  test('whose own answer was lost on the way is ours all the same', async () => {
    events.publish([raised('1'), raised('2')]);
    api.trouble = 'clarvis_unreachable';
    await attentionStore.answer('1', { decision: 'allow' });
    await attentionStore.answer('2', { decision: 'allow' });
    events.publish([settled('1', 'allow', 'me'), settled('2', 'deny', 'somebody')]);
    expect(attentionStore.inbox.value.settled.map(({ by, mine }) => [by, mine])).toEqual([
      ['somebody', false],
      ['me', true],
    ]);
  });

  test('that came too late asks what is still open', async () => {
    events.publish([raised('1')]);
    api.trouble = 'attention_gone';
    await attentionStore.answer('1', { decision: 'allow' });
    expect(api.requests).toContain('attention');
  });
});

describe('notifications', () => {
  let visible: string[];
  let closed: string[];
  let lookedAt: boolean;
  let permission: 'granted' | 'default' | 'denied' | 'missing';
  let answer: typeof permission;

  function make() {
    const notifier: Notifier = {
      permission: () => permission,
      ask: async () => {
        permission = answer;
      },
      isLookedAt: () => lookedAt,
      show(title, body, tag) {
        visible.push(`${title}: ${body}`);
        return () => closed.push(tag);
      },
    };
    const words = ({ input }: Attention) => ({ title: 'Shop', body: `run ${input.command}` });
    const storage = createBrowserStorage(new FakeStorage());
    return createNotifications(
      events,
      notifier,
      storage,
      words,
      (id) => `session ${id}`,
      () => {},
    );
  }

  beforeEach(() => {
    visible = [];
    closed = [];
    lookedAt = false;
    permission = 'default';
    answer = 'granted';
  });

  test('come only to those who want them, name the command, and go when it is settled', async () => {
    const notifications = make();
    events.publish([raised('1')]);
    await notifications.turnOn();
    events.publish([raised('2'), raised('2')]);
    expect(visible).toEqual(['Shop: run ls']);
    events.publish([settled('2', 'allow', 'x')]);
    expect(closed).toEqual(['2']);
    notifications.turnOff();
    events.publish([raised('3')]);
    expect(visible).toHaveLength(1);
  });

  test('do not come to who looks at the page', async () => {
    const notifications = make();
    await notifications.turnOn();
    lookedAt = true;
    events.publish([raised('1')]);
    expect(visible).toEqual([]);
  });

  test('tell what a terminal says, but not twice what it asks', async () => {
    const notified = (event: string, reason: string | null) =>
      ({ position: null, sessionId: 's', type: 'session/notified', event, reason }) as const;
    const notifications = make();
    await notifications.turnOn();
    events.publish([
      { ...notified('Notification', 'permission_prompt'), text: 'Claude needs your permission' },
      { ...notified('Notification', 'idle_prompt'), text: 'Claude is waiting for your input' },
      { ...notified('Stop', null), text: null },
    ]);
    expect(visible).toEqual(['session s: Claude is waiting for your input']);
  });

  test('are not offered where only a service worker may show them', () => {
    class Notification {
      static permission = 'default';
      constructor() {
        throw new TypeError('Illegal constructor');
      }
    }
    const phone = { Notification, isSecureContext: true } as unknown as typeof window;
    expect(notifierOf(phone).permission()).toBe('missing');
    class Shown extends EventTarget {
      static permission = 'default';
      close() {}
    }
    const desktop = { Notification: Shown, isSecureContext: true } as unknown as typeof window;
    expect(notifierOf(desktop).permission()).toBe('default');
  });

  test('are not offered where the browser has none', () => {
    permission = 'missing';
    expect(make().state.value).toBe('missing');
  });

  test('are said to be blocked to who blocked them', async () => {
    answer = 'denied';
    const notifications = make();
    await notifications.turnOn();
    expect(notifications.state.value).toBe('refused');
    events.publish([raised('1')]);
    expect(visible).toEqual([]);
  });
});

test.each([
  [0, null, 'Clarvis'],
  [2, null, '(2) Clarvis'],
  [1, 'Fix login', '(1) Fix login · Clarvis'],
])('the tab says %i and %s', (waiting, title, words) => {
  expect(tabTitle(waiting, title)).toBe(words);
});

test.each([
  ['Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X)', 'Clarvis on iPhone'],
  ['Mozilla/5.0 (X11; Linux x86_64)', 'Clarvis on Linux'],
  ['something else', 'Clarvis'],
])('%s is called %s', (agent, name) => {
  expect(browserName(agent)).toBe(name);
});
