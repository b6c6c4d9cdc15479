import { beforeEach, describe, expect, test } from 'vitest';
import { partialInput } from '../../src/conversation/finalMessage';
import { createExpandState } from '../../src/lib/expanded';
import { expandFor, hitsIn, nearestOf } from '../../src/thread/find/find';
import { linkedMessage, messageLink } from '../../src/thread/messageLink';
import { chunksOf } from '../../src/thread/rows/chunks';
import { type Row, rowsOf } from '../../src/thread/rows/rows';
import { readScrollPosition, writeScrollPosition } from '../../src/thread/scroll/scrollPosition';
import { call, prompt, reply, result } from '../support/messages';

const DONE = { running: false, hasOlder: false };

class MemoryStorage implements Pick<Storage, 'getItem' | 'setItem'> {
  private readonly items = new Map<string, string>();
  getItem = (name: string) => this.items.get(name) ?? null;
  setItem(name: string, value: string) {
    this.items.set(name, value);
  }
}

describe('bundles', () => {
  const rows = rowsOf(
    Array.from({ length: 500 }, (_, at) => reply(`uuid-${at}-${at * 7919}`, `text ${at}`)),
    DONE,
  );

  test('hold every row once, in order', () => {
    expect(chunksOf(rows).flatMap((chunk) => chunk.rows.map(({ row }) => row))).toEqual(rows);
  });

  test('stay as they are when messages come above and below', () => {
    const whole = chunksOf(rows).map((chunk) => chunk.key);
    const part = chunksOf(rows.slice(200, 400)).map((chunk) => chunk.key);
    // the first one of a part may begin in the middle of one of the whole
    expect(part.slice(1).every((key) => whole.includes(key))).toBe(true);
    expect(part.length).toBeGreaterThan(5);
  });
});

describe('the place where one was reading', () => {
  let storage: Storage;
  beforeEach(() => {
    storage = new MemoryStorage() as unknown as Storage;
  });

  test('is kept for each session', () => {
    writeScrollPosition(storage, 'one', { at: 'row', key: 'k', uuid: 'u', offset: -12.4 });
    writeScrollPosition(storage, 'two', { at: 'row', key: 'l', uuid: 'v', offset: 3 });
    expect(readScrollPosition(storage, 'one')).toEqual({
      at: 'row',
      key: 'k',
      uuid: 'u',
      offset: -12,
    });
    expect(readScrollPosition(storage, 'three')).toEqual({ at: 'end' });
  });

  test('the end needs no memory', () => {
    writeScrollPosition(storage, 'one', { at: 'row', key: 'k', uuid: 'u', offset: 0 });
    writeScrollPosition(storage, 'one', { at: 'end' });
    expect(readScrollPosition(storage, 'one')).toEqual({ at: 'end' });
  });

  test('nonsense in the storage is no reason to fail', () => {
    storage.setItem('clarvis.reading', '{"a": [');
    expect(readScrollPosition(storage, 'one')).toEqual({ at: 'end' });
    storage.setItem('clarvis.reading', '[["one", 1], null, "x"]');
    expect(readScrollPosition(storage, 'one')).toEqual({ at: 'end' });
  });

  test('only the newest are kept', () => {
    for (let at = 0; at < 400; at += 1) {
      writeScrollPosition(storage, `s${at}`, { at: 'row', key: 'k', uuid: 'u', offset: 0 });
    }
    expect(readScrollPosition(storage, 's0')).toEqual({ at: 'end' });
    expect(readScrollPosition(storage, 's399')).toMatchObject({ at: 'row' });
  });
});

test('a link to a message leads back to it, and only within its session', () => {
  const link = messageLink({ origin: 'http://127.0.0.1:7434', pathname: '/' }, 's 1', 'm&2');
  const fragment = new URL(link).hash;
  expect(linkedMessage(fragment, 's 1')).toBe('m&2');
  expect(linkedMessage(fragment, 'other')).toBeNull();
  expect(linkedMessage('#session=s', 's')).toBeNull();
});

describe('finding', () => {
  const rows = rowsOf(
    [
      prompt('a', 'Find the needle'),
      reply('b', 'A **nee**dle, a needle and a NEEDLE'),
      call('c', 't', 'Bash', { command: 'ls' }),
      result('d', 't', 'needle.txt'),
    ],
    DONE,
  );

  test('counts every place of a text, and a row that unfolds once', () => {
    expect(hitsIn(rows, 'Needle').map(({ key }) => key)).toEqual(['a', 'b', 'b', 'b', 'c']);
    expect(nearestOf(hitsIn(rows, 'Needle'), rows, null)).toEqual({ key: 'c', nth: 0 });
    expect(nearestOf(hitsIn(rows, 'Needle'), rows, 'a')).toEqual({ key: 'a', nth: 0 });
    expect(nearestOf(hitsIn(rows, 'Needle'), rows, 'b')).toEqual({ key: 'b', nth: 0 });
    expect(hitsIn(rows, 'absent')).toEqual([]);
    expect(hitsIn(rows, '  ')).toEqual([]);
  });

  test('counts what a subagent said that nobody has unfolded, and unfolds down to it', () => {
    const [row] = rowsOf([call('a', 'toolu_a', 'Task'), result('b', 'toolu_a', 'done')], DONE);
    const words = [
      reply('c', 'nothing'),
      call('d', 'toolu_d', 'Bash'),
      result('e', 'toolu_d', 'needle'),
    ];
    const subagentTexts = new Map([['toolu_a', words]]);
    expect(hitsIn([row as Row], 'needle')).toEqual([]);
    expect(hitsIn([row as Row], 'needle', subagentTexts)).toHaveLength(1);
    const expandState = createExpandState();
    expandFor(row as Row, 'needle', expandState, subagentTexts);
    expect(expandState.signalOf((row as Row).key).value).toBe(true);
    expect(expandState.signalOf('d').value).toBe(true);
  });

  test('unfolds what hides the words, and nothing else', () => {
    const expandState = createExpandState();
    for (const row of rows) expandFor(row, 'needle', expandState);
    expect(expandState.signalOf('c').value).toBe(true);
    expect(expandState.signalOf('b').value).toBe(false);
  });
});

test('of an input that is being written, what is whole is known', () => {
  expect(partialInput('{"file_path": "/a/b.py", "content": "x = \\"1')).toEqual({
    file_path: '/a/b.py',
  });
  expect(partialInput('{"command": "npm te')).toEqual({ command: 'npm te' });
  expect(partialInput('')).toEqual({});
});
