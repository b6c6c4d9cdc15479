import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { failed, type Outcome, success } from '../../src/api/result';
import type { Destination } from '../../src/command/destinations';
import { createUndoSend, UNDO_MS, type UndoSend } from '../../src/command/undoSend';
import type { Delivery } from '../../src/conversation/openConversations';
import { createBrowserStorage } from '../../src/lib/storage';
import { FakeStorage } from '../support/fakes';

const NEW: Destination = { kind: 'new', workdir: '/code', because: null };
const RESUME: Destination = {
  kind: 'resume',
  sessionId: 's',
  title: 'T',
  because: null,
  copy: false,
};

let storage: FakeStorage;
let delivered: Delivery[];
let answer: (delivery: Delivery) => Promise<Outcome<string>>;
let undoSend: UndoSend;
const onSent = vi.fn();

function make(): UndoSend {
  return createUndoSend({
    storage: createBrowserStorage(storage),
    deliver(delivery) {
      delivered.push(delivery);
      return answer(delivery);
    },
    onSent,
  });
}

const only = () => undoSend.entries.value[0];
const uuid = () => only()?.uuid as string;
const soon = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => {
  vi.useFakeTimers();
  storage = new FakeStorage();
  delivered = [];
  answer = async () => success('s');
  onSent.mockReset();
  undoSend = make();
});
afterEach(() => vi.useRealTimers());

describe('what was sent', () => {
  test('is held back, then goes, and is forgotten once it is there', async () => {
    undoSend.begin('fix it', NEW, true);
    expect([only()?.state, delivered.length, storage.kept.size]).toEqual(['held', 0, 1]);
    await vi.advanceTimersByTimeAsync(UNDO_MS);
    expect(delivered).toMatchObject([{ text: 'fix it', to: { workdir: '/code' } }]);
    expect(only()).toMatchObject({ state: 'sent', sessionId: 's' });
    expect(storage.kept.size).toBe(0);
    expect(onSent).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ follow: true }));
  });

  test('can be undone as if it had never been', async () => {
    undoSend.begin('fix it', RESUME, false);
    expect(undoSend.undo(uuid())).toBe('fix it');
    await vi.advanceTimersByTimeAsync(2 * UNDO_MS);
    expect([delivered, undoSend.entries.value, storage.kept.size]).toEqual([[], [], 0]);
  });

  test('can no longer be undone once it is on its way', async () => {
    undoSend.begin('fix it', RESUME, false);
    undoSend.send(uuid());
    expect(undoSend.undo(uuid())).toBeNull();
    await soon();
    expect(undoSend.undo(uuid())).toBeNull();
    expect(delivered).toHaveLength(1);
  });

  test('goes at once when another is sent, or the page is left', async () => {
    undoSend.begin('one', RESUME, false);
    undoSend.begin('two', RESUME, false);
    expect(delivered.map(({ text }) => text)).toEqual(['one']);
    undoSend.sendAll();
    expect(delivered.map(({ text }) => text)).toEqual(['one', 'two']);
  });
});

describe('after a refresh', () => {
  test('what may or may not have arrived is sent again under its uuid', async () => {
    answer = () => new Promise(() => {});
    undoSend.begin('fix it', NEW, true);
    undoSend.sendAll();
    const first = uuid();
    answer = async () => success('s');
    undoSend = make();
    undoSend.restore();
    await soon();
    expect(delivered.map((each) => each.uuid)).toEqual([first, first]);
    expect(only()).toMatchObject({ state: 'sent', sessionId: 's', follow: false });
  });

  test('what another tab holds back is left to it, unless that tab is gone', async () => {
    undoSend.begin('fix it', NEW, true);
    const another = make();
    another.restore();
    expect(undoSend.undo(uuid())).toBe('fix it');
    await vi.advanceTimersByTimeAsync(10 * UNDO_MS);
    expect(delivered).toEqual([]);

    undoSend.begin('and this', NEW, true);
    vi.clearAllTimers(); // that tab is gone without a word
    make().restore();
    await vi.advanceTimersByTimeAsync(100 * UNDO_MS);
    expect(delivered).toMatchObject([{ text: 'and this' }]);
  });

  test('what is not ours, or of another version, is left alone', () => {
    storage.setItem(
      'clarvis.held.x',
      JSON.stringify({ uuid: 'x', text: 'a', destination: { kind: 1 } }),
    );
    storage.setItem('clarvis.held.y', 'nonsense');
    undoSend.restore();
    expect([undoSend.entries.value, delivered]).toEqual([[], []]);
  });
});

describe('what could not be sent', () => {
  beforeEach(async () => {
    answer = async () => failed('keeper_unreachable', 'The keeper does not answer.');
    undoSend.begin('fix it', RESUME, false);
    undoSend.send(uuid());
    await soon();
  });

  test('says why, stays over a refresh, and goes again', async () => {
    expect(only()).toMatchObject({ state: 'unsent', problem: 'The keeper does not answer.' });
    const before = uuid();
    undoSend = make();
    undoSend.restore();
    await soon();
    expect(only()).toMatchObject({ state: 'unsent', uuid: before });
    expect(delivered).toHaveLength(1);
    answer = async () => success('s');
    undoSend.send(uuid());
    await soon();
    expect(only()?.state).toBe('sent');
  });

  test('can be taken back to be changed', () => {
    expect(undoSend.undo(uuid())).toBe('fix it');
    expect(storage.kept.size).toBe(0);
  });

  test('because somebody else runs the session goes on in a copy', async () => {
    answer = async () => failed('session_elsewhere', 'It runs elsewhere.');
    undoSend.send(uuid());
    await soon();
    expect(only()).toMatchObject({ state: 'unsent', elsewhere: true });
    answer = async () => success('copy');
    undoSend.sendToCopy(uuid());
    await soon();
    expect(delivered.at(-1)?.to).toEqual({ sessionId: 's', copy: true });
    expect(only()).toMatchObject({ state: 'sent', sessionId: 'copy' });
  });
});
