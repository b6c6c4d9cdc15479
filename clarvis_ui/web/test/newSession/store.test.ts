import { beforeEach, describe, expect, test, vi } from 'vitest';
import { failed, type Outcome, success } from '../../src/api/result';
import type { Accepted, Capabilities, Prompt } from '../../src/api/send';
import { createBrowserStorage } from '../../src/lib/storage';
import { createNewSessionStore, type NewSessionStore } from '../../src/newSession/store';

const OFFERS: Capabilities = {
  commands: [],
  models: [{ value: 'opus', displayName: 'Opus', description: null }],
  modes: ['default', 'plan'],
};

let items: Record<string, string>;
let newSession: NewSessionStore;
const storage = createBrowserStorage({
  length: 0,
  key: () => null,
  getItem: (key) => items[key] ?? null,
  setItem: (key, value) => {
    items[key] = value;
  },
  removeItem: () => {},
});
const offersIn = vi.fn<(workdir: string) => Promise<Outcome<Capabilities>>>();
const send = vi.fn<(prompt: Prompt) => Promise<Outcome<Accepted>>>();
const go = vi.fn<(sessionId: string) => void>();

beforeEach(() => {
  items = {};
  offersIn.mockReset().mockResolvedValue(success(OFFERS));
  send.mockReset().mockResolvedValue(success({ sessionId: 'new', state: 'starting' }));
  go.mockReset();
  newSession = createNewSessionStore({ api: { offersIn, send }, storage, go });
});

async function chosen(workdir = '/code/api'): Promise<void> {
  newSession.show(workdir);
  await vi.waitFor(() => expect(newSession.capabilities.value).not.toBeNull());
}

describe('starting', () => {
  test('sends the words to the directory and goes to the session', async () => {
    await chosen();
    newSession.write('  fix it\n');
    newSession.model.value = 'opus';
    newSession.mode.value = 'plan';
    await newSession.start();
    expect(send).toHaveBeenCalledExactlyOnceWith({
      workdir: '/code/api',
      content: [{ type: 'text', text: 'fix it' }],
      uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      model: 'opus',
      permissionMode: 'plan',
    });
    expect(go).toHaveBeenCalledExactlyOnceWith('new');
    expect([newSession.isOpen.value, newSession.text.value]).toEqual([false, '']);
  });

  test('sends along what is to be appended to the system prompt, once', async () => {
    await chosen();
    newSession.write('fix it');
    newSession.writeSystemPrompt('You are Ada.\n');
    await newSession.start();
    expect(send.mock.lastCall?.[0].systemPrompt).toBe('You are Ada.\n');
    expect(newSession.systemPrompt.value).toBe('');
    newSession.write('and this');
    newSession.writeSystemPrompt(' ');
    await newSession.start();
    expect(send.mock.lastCall?.[0]).not.toHaveProperty('systemPrompt');
  });

  test('keeps the system prompt where it could not begin', async () => {
    await chosen();
    newSession.write('fix it');
    newSession.writeSystemPrompt('You are Ada.');
    send.mockResolvedValueOnce(failed('invalid_request', 'It is too long.'));
    await newSession.start();
    expect(newSession.failure.value?.sentence).toBe('It is too long.');
    const again = createNewSessionStore({ api: { offersIn, send }, storage, go });
    expect(again.systemPrompt.value).toBe('You are Ada.');
  });

  test('says nothing of what was not chosen', async () => {
    await chosen();
    newSession.write('fix it');
    await newSession.start();
    expect(Object.keys(send.mock.calls[0]?.[0] ?? {}).sort()).toEqual([
      'content',
      'uuid',
      'workdir',
    ]);
  });

  test('twice at once is once', async () => {
    await chosen();
    newSession.write('fix it');
    await Promise.all([newSession.start(), newSession.start()]);
    expect(send).toHaveBeenCalledOnce();
  });

  test('needs words and a directory', async () => {
    newSession.show(null);
    newSession.write('fix it');
    await newSession.start();
    await chosen();
    newSession.write('  ');
    await newSession.start();
    expect(send).not.toHaveBeenCalled();
  });

  test('that fails keeps everything and says why', async () => {
    send.mockResolvedValue(failed('outside_roots', 'It lies outside.'));
    await chosen();
    newSession.write('fix it');
    await newSession.start();
    expect(newSession.failure.value?.sentence).toBe('It lies outside.');
    expect([newSession.isOpen.value, newSession.text.value]).toEqual([true, 'fix it']);
    expect(go).not.toHaveBeenCalled();
  });
});

test('words survive a refresh until they are sent', async () => {
  newSession.write('half a thou');
  const after = createNewSessionStore({ api: { offersIn, send }, storage, go });
  expect(after.text.value).toBe('half a thou');
  after.show('/code/api');
  await after.start();
  expect(createNewSessionStore({ api: { offersIn, send }, storage, go }).text.value).toBe('');
});

test('words that are sent again after a lost answer are still one message', async () => {
  newSession.show('/code/api');
  newSession.write('fix it');
  send.mockResolvedValueOnce(failed('clarvis_unreachable', 'Clarvis does not answer.'));
  await newSession.start();
  await newSession.start();
  newSession.write('fix it');
  await newSession.start();
  const uuids = send.mock.calls.map(([prompt]) => prompt.uuid);
  expect(uuids[1]).toBe(uuids[0]);
  expect(uuids[2]).not.toBe(uuids[0]);
});

describe('what can be chosen', () => {
  test('is asked for once for a directory', async () => {
    await chosen();
    newSession.hide();
    await chosen();
    expect(offersIn).toHaveBeenCalledExactlyOnceWith('/code/api');
  });

  test('is that of the directory that was chosen last', async () => {
    const answers = new Map<string, (outcome: Outcome<Capabilities>) => void>();
    offersIn.mockImplementation((workdir) => new Promise((done) => answers.set(workdir, done)));
    newSession.show('/slow');
    newSession.choose('/quick');
    answers.get('/quick')?.(success(OFFERS));
    await vi.waitFor(() => expect(newSession.capabilities.value).toBe(OFFERS));
    answers.get('/slow')?.(success({ ...OFFERS, modes: [] }));
    await Promise.resolve();
    expect(newSession.capabilities.value).toBe(OFFERS);
  });

  test('takes back what another directory does not have', async () => {
    await chosen();
    newSession.model.value = 'opus';
    newSession.mode.value = 'plan';
    offersIn.mockResolvedValue(success({ ...OFFERS, models: [] }));
    await chosen('/code/web');
    expect([newSession.model.value, newSession.mode.value]).toEqual(['', 'plan']);
  });

  test('that is not known leaves what is usual', async () => {
    offersIn.mockResolvedValue(failed('cli_failed', 'No.'));
    newSession.show('/code/api');
    newSession.write('fix it');
    await newSession.start();
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
    newSession.showPreset(FRESH);
    await vi.waitFor(() => expect(newSession.capabilities.value).not.toBeNull());
    expect(newSession.isOpen.value).toBe(true);
    expect([newSession.workdir.value, newSession.text.value]).toEqual(['/code/old', FRESH.text]);
    expect([newSession.model.value, newSession.mode.value]).toEqual(['opus', 'plan']);
    expect(send).not.toHaveBeenCalled();
  });

  test('keeps what was typed already, and is not told twice', () => {
    newSession.write('mine');
    newSession.showPreset(FRESH);
    newSession.showPreset(FRESH);
    expect(newSession.text.value).toBe('Where it stood.\n\nmine');
  });

  test('leaves the directory open where it is gone', () => {
    newSession.show('/code/api');
    newSession.showPreset({ ...FRESH, workdir: null });
    expect(newSession.workdir.value).toBeNull();
  });
});
