import { beforeEach, describe, expect, test, vi } from 'vitest';
import { failed, type Outcome, success } from '../../src/api/result';
import type { Accepted, Offers, Prompt } from '../../src/api/send';
import { createBrowserStorage } from '../../src/lib/storage';
import { createNewSessionStore, type NewSessionStore } from '../../src/newSession/store';

const OFFERS: Offers = {
  commands: [],
  models: [{ value: 'opus', displayName: 'Opus', description: null }],
  modes: ['default', 'plan'],
};

let kept: Record<string, string>;
let beginning: NewSessionStore;
const memory = createBrowserStorage({
  length: 0,
  key: () => null,
  getItem: (key) => kept[key] ?? null,
  setItem: (key, value) => {
    kept[key] = value;
  },
  removeItem: () => {},
});
const offersIn = vi.fn<(workdir: string) => Promise<Outcome<Offers>>>();
const send = vi.fn<(prompt: Prompt) => Promise<Outcome<Accepted>>>();
const go = vi.fn<(sessionId: string) => void>();

beforeEach(() => {
  kept = {};
  offersIn.mockReset().mockResolvedValue(success(OFFERS));
  send.mockReset().mockResolvedValue(success({ sessionId: 'new', state: 'starting' }));
  go.mockReset();
  beginning = createNewSessionStore({ api: { offersIn, send }, memory, go });
});

async function chosen(workdir = '/code/api'): Promise<void> {
  beginning.show(workdir);
  await vi.waitFor(() => expect(beginning.offers.value).not.toBeNull());
}

describe('starting', () => {
  test('sends the words to the directory and goes to the session', async () => {
    await chosen();
    beginning.write('  fix it\n');
    beginning.model.value = 'opus';
    beginning.mode.value = 'plan';
    await beginning.start();
    expect(send).toHaveBeenCalledExactlyOnceWith({
      workdir: '/code/api',
      content: [{ type: 'text', text: 'fix it' }],
      uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      model: 'opus',
      permissionMode: 'plan',
    });
    expect(go).toHaveBeenCalledExactlyOnceWith('new');
    expect([beginning.isShown.value, beginning.text.value]).toEqual([false, '']);
  });

  test('sends along what is to be appended to the system prompt, once', async () => {
    await chosen();
    beginning.write('fix it');
    beginning.writeSystemPrompt('You are Ada.\n');
    await beginning.start();
    expect(send.mock.lastCall?.[0].systemPrompt).toBe('You are Ada.\n');
    expect(beginning.systemPrompt.value).toBe('');
    beginning.write('and this');
    beginning.writeSystemPrompt(' ');
    await beginning.start();
    expect(send.mock.lastCall?.[0]).not.toHaveProperty('systemPrompt');
  });

  test('keeps the system prompt where it could not begin', async () => {
    await chosen();
    beginning.write('fix it');
    beginning.writeSystemPrompt('You are Ada.');
    send.mockResolvedValueOnce(failed('invalid_request', 'It is too long.'));
    await beginning.start();
    expect(beginning.failure.value?.sentence).toBe('It is too long.');
    const again = createNewSessionStore({ api: { offersIn, send }, memory, go });
    expect(again.systemPrompt.value).toBe('You are Ada.');
  });

  test('says nothing of what was not chosen', async () => {
    await chosen();
    beginning.write('fix it');
    await beginning.start();
    expect(Object.keys(send.mock.calls[0]?.[0] ?? {}).sort()).toEqual([
      'content',
      'uuid',
      'workdir',
    ]);
  });

  test('twice at once is once', async () => {
    await chosen();
    beginning.write('fix it');
    await Promise.all([beginning.start(), beginning.start()]);
    expect(send).toHaveBeenCalledOnce();
  });

  test('needs words and a directory', async () => {
    beginning.show(null);
    beginning.write('fix it');
    await beginning.start();
    await chosen();
    beginning.write('  ');
    await beginning.start();
    expect(send).not.toHaveBeenCalled();
  });

  test('that fails keeps everything and says why', async () => {
    send.mockResolvedValue(failed('outside_roots', 'It lies outside.'));
    await chosen();
    beginning.write('fix it');
    await beginning.start();
    expect(beginning.failure.value?.sentence).toBe('It lies outside.');
    expect([beginning.isShown.value, beginning.text.value]).toEqual([true, 'fix it']);
    expect(go).not.toHaveBeenCalled();
  });
});

test('words survive a refresh until they are sent', async () => {
  beginning.write('half a thou');
  const after = createNewSessionStore({ api: { offersIn, send }, memory, go });
  expect(after.text.value).toBe('half a thou');
  after.show('/code/api');
  await after.start();
  expect(createNewSessionStore({ api: { offersIn, send }, memory, go }).text.value).toBe('');
});

test('words that are sent again after a lost answer are still one message', async () => {
  beginning.show('/code/api');
  beginning.write('fix it');
  send.mockResolvedValueOnce(failed('clarvis_unreachable', 'Clarvis does not answer.'));
  await beginning.start();
  await beginning.start();
  beginning.write('fix it');
  await beginning.start();
  const uuids = send.mock.calls.map(([prompt]) => prompt.uuid);
  expect(uuids[1]).toBe(uuids[0]);
  expect(uuids[2]).not.toBe(uuids[0]);
});

describe('what can be chosen', () => {
  test('is asked for once for a directory', async () => {
    await chosen();
    beginning.hide();
    await chosen();
    expect(offersIn).toHaveBeenCalledExactlyOnceWith('/code/api');
  });

  test('is that of the directory that was chosen last', async () => {
    const answers = new Map<string, (outcome: Outcome<Offers>) => void>();
    offersIn.mockImplementation((workdir) => new Promise((done) => answers.set(workdir, done)));
    beginning.show('/slow');
    beginning.choose('/quick');
    answers.get('/quick')?.(success(OFFERS));
    await vi.waitFor(() => expect(beginning.offers.value).toBe(OFFERS));
    answers.get('/slow')?.(success({ ...OFFERS, modes: [] }));
    await Promise.resolve();
    expect(beginning.offers.value).toBe(OFFERS);
  });

  test('takes back what another directory does not have', async () => {
    await chosen();
    beginning.model.value = 'opus';
    beginning.mode.value = 'plan';
    offersIn.mockResolvedValue(success({ ...OFFERS, models: [] }));
    await chosen('/code/web');
    expect([beginning.model.value, beginning.mode.value]).toEqual(['', 'plan']);
  });

  test('that is not known leaves what is usual', async () => {
    offersIn.mockResolvedValue(failed('cli_failed', 'No.'));
    beginning.show('/code/api');
    beginning.write('fix it');
    await beginning.start();
    expect(send).toHaveBeenCalledOnce();
  });
});

describe('beginning anew', () => {
  const FRESH = {
    workdir: '/code/old',
    text: 'Where it stood.',
    model: 'claude-opus-4-8',
    mode: 'plan',
  };

  test('offers directory, words, model and mode, and sends nothing by itself', async () => {
    beginning.offer(FRESH);
    await vi.waitFor(() => expect(beginning.offers.value).not.toBeNull());
    expect(beginning.isShown.value).toBe(true);
    expect([beginning.workdir.value, beginning.text.value]).toEqual(['/code/old', FRESH.text]);
    expect([beginning.model.value, beginning.mode.value]).toEqual(['opus', 'plan']);
    expect(send).not.toHaveBeenCalled();
  });

  test('keeps what was typed already, and is not told twice', () => {
    beginning.write('mine');
    beginning.offer(FRESH);
    beginning.offer(FRESH);
    expect(beginning.text.value).toBe('Where it stood.\n\nmine');
  });

  test('leaves the directory open where it is gone', () => {
    beginning.show('/code/api');
    beginning.offer({ ...FRESH, workdir: null });
    expect(beginning.workdir.value).toBeNull();
  });
});
