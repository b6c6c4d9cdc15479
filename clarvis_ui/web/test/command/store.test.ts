import { signal } from '@preact/signals';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { failed, type Outcome, success } from '../../src/api/result';
import type { Routing } from '../../src/api/routing';
import { type CommandStore, createCommandStore } from '../../src/command/store';
import { createBrowserStorage } from '../../src/lib/storage';
import { FakeStorage } from '../support/fakes';

const resume = (sessionId: string): Routing => ({
  action: 'resume',
  sessionId,
  title: sessionId,
  reason: 'It says “also”.',
  candidates: [
    { sessionId, title: sessionId, workdir: '/a', score: 0.9, secondsAgo: 1, because: 'x' },
  ],
});

let answers: Map<string, (outcome: Outcome<Routing>) => void>;
let requested: string[];
let storage: FakeStorage;
let command: CommandStore;
const onSend = vi.fn();
const soon = () => vi.advanceTimersByTimeAsync(0);
const pause = () => vi.advanceTimersByTimeAsync(500);

function make(): CommandStore {
  return createCommandStore({
    api: {
      route: (words) => {
        requested.push(words);
        return new Promise((done) => answers.set(words, done));
      },
    },
    storage: createBrowserStorage(storage),
    sessions: signal(new Map()),
    onSend,
  });
}

beforeEach(() => {
  vi.useFakeTimers();
  answers = new Map();
  requested = [];
  storage = new FakeStorage();
  onSend.mockReset();
  command = make();
  command.suggest('/code');
});
afterEach(() => vi.useRealTimers());

describe('while one types', () => {
  test('it asks once one pauses, and says where it goes', async () => {
    for (const text of ['a', 'al', 'also ']) command.write(text);
    await pause();
    expect(requested).toEqual(['also']);
    expect(command.isRouting.value).toBe(true);
    answers.get('also')?.(success(resume('s')));
    await soon();
    expect(command.isRouting.value).toBe(false);
    expect(command.chosen.value).toMatchObject({ kind: 'resume', sessionId: 's' });
  });

  test('an older answer never takes the place of a newer', async () => {
    command.write('one');
    await pause();
    command.write('two');
    await pause();
    answers.get('two')?.(success(resume('second')));
    await soon();
    answers.get('one')?.(success(resume('first')));
    await soon();
    expect(command.chosen.value).toMatchObject({ sessionId: 'second' });
  });

  test('what one chose stays chosen, until all of it is taken back', async () => {
    command.write('one');
    await pause();
    answers.get('one')?.(success(resume('s')));
    await soon();
    command.turn(1);
    expect(command.chosen.value.kind).toBe('new');
    command.write('one more');
    await pause();
    answers.get('one more')?.(success(resume('s')));
    await soon();
    expect(command.chosen.value.kind).toBe('new');
    command.turn(1);
    expect(command.chosen.value.kind).toBe('resume');
    command.turn(-1);
    command.write('');
    command.write('anew');
    await pause();
    answers.get('anew')?.(success(resume('s')));
    await soon();
    expect(command.chosen.value.kind).toBe('resume');
  });

  test('it outlives a refresh', () => {
    command.write('half a thou');
    expect(make().text.value).toBe('half a thou');
    command.write('');
    expect(make().text.value).toBe('');
  });
});

describe('sending', () => {
  test('goes the way that is shown, and clears the field', async () => {
    command.write(' fix it ');
    await pause();
    answers.get('fix it')?.(success(resume('s')));
    await soon();
    expect(await command.send()).toBe(true);
    expect(onSend).toHaveBeenCalledExactlyOnceWith(
      'fix it',
      expect.objectContaining({ kind: 'resume', sessionId: 's' }),
    );
    expect([command.text.value, storage.kept.size]).toEqual(['', 0]);
  });

  test('waits for the answer to these very words', async () => {
    command.write('quick');
    const pending = command.send();
    answers.get('quick')?.(success(resume('s')));
    expect(await pending).toBe(true);
    expect(onSend.mock.calls[0]?.[1]).toMatchObject({ sessionId: 's' });
  });

  test('does not happen where nobody knows where it belongs', async () => {
    command.write('quick');
    const pending = command.send();
    answers.get('quick')?.(failed('keeper_unreachable', 'The keeper does not answer.'));
    expect(await pending).toBe(false);
    expect(command.failure.value?.sentence).toBe('The keeper does not answer.');
    expect([command.text.value, onSend.mock.calls.length]).toEqual(['quick', 0]);
  });

  test('of what one says is new needs no answer, but a directory', async () => {
    command.suggest(null);
    command.write('quick');
    command.choose({ kind: 'new', workdir: null, because: null });
    expect(await command.send()).toBe(false);
    command.chooseWorkdir('/elsewhere');
    expect(await command.send()).toBe(true);
    expect(onSend.mock.calls[0]?.[1]).toMatchObject({ kind: 'new', workdir: '/elsewhere' });
    expect(command.workdir.value).toBeNull();
  });
});
