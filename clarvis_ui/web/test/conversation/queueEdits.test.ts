import { beforeEach, describe, expect, test } from 'vitest';
import type { Queued } from '../../src/api/messages';
import { failed, success } from '../../src/api/result';
import type { Draft } from '../../src/composer/drafts';
import type { OptimisticMessage } from '../../src/conversation/optimistic';
import {
  type DraftField,
  moveIntoDraft,
  type SessionQueue,
} from '../../src/conversation/queueEdits';
import { FakeApi } from '../support/fakes';
import { SESSION } from '../support/world';

const IMAGE = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
const PICTURE = { mediaType: 'image/png', data: 'AAAA' };

let api: FakeApi;
let draft: Draft;
let gone: string[];
let optimistic: OptimisticMessage[];
/** What the field held when the keeper was asked, by uuid. */
let before: Record<string, string>;
/** The codes with which the keeper refuses, by uuid. */
let refused: Record<string, string>;
/** What has left the line, by whichever tab. */
let taken: Set<string>;

const field: DraftField = {
  get current() {
    return draft;
  },
  write(next) {
    draft = next;
  },
};

const line = (): SessionQueue => ({
  id: SESSION,
  api: {
    waiting: api.waiting,
    cancelQueued: async (_, uuid) => {
      before[uuid] = draft.text;
      const code = refused[uuid];
      if (code) return failed(code, `said ${code}`);
      if (taken.has(uuid)) return failed('message_taken', 'taken back already', ['send']);
      taken.add(uuid);
      return success(null);
    },
  },
  optimistic,
  withdrawn: (uuid) => void gone.push(uuid),
});

function held(uuid: string, images = 0): Queued {
  return { uuid, text: `words of ${uuid}`, state: 'held', images };
}

const edit = (...queue: Queued[]) => moveIntoDraft(queue, line(), field);

beforeEach(() => {
  api = new FakeApi();
  draft = { text: '', images: [] };
  gone = [];
  optimistic = [];
  before = {};
  refused = {};
  taken = new Set();
});

describe('what waits', () => {
  test('stands behind what is typed already, before it leaves the line', async () => {
    draft = { text: 'typed\n', images: [PICTURE] };
    expect(await edit(held('a'), held('b'))).toBe('');
    expect(draft).toEqual({ text: 'typed\n\nwords of a\n\nwords of b', images: [PICTURE] });
    expect(before).toEqual({ a: draft.text, b: draft.text });
    expect(gone).toEqual(['a', 'b']);
    expect(api.requests).toEqual([]);
  });

  test('comes with its images, whoever sent it', async () => {
    api.answers.waiting = [{ uuid: 'a', content: [IMAGE, { type: 'text', text: 'words of a' }] }];
    expect(await edit(held('a', 1))).toBe('');
    expect(draft).toEqual({ text: 'words of a', images: [PICTURE] });
  });

  test('comes with those that this browser kept', async () => {
    const pending: OptimisticMessage = {
      uuid: 'a',
      text: 'words of a',
      content: [IMAGE],
      images: 1,
      state: 'accepted',
      problem: null,
      behind: null,
      begun: 0,
    };
    optimistic = [pending];
    expect(await edit(held('a', 1))).toBe('');
    expect(draft.images).toEqual([PICTURE]);
    expect(api.requests).toEqual([]);
    // too large to be kept here: the keeper has them
    optimistic = [{ ...pending, content: [], images: 0 }];
    api.answers.waiting = [{ uuid: 'a', content: [IMAGE] }];
    taken.clear();
    draft = { text: '', images: [] };
    expect(await edit(held('a', 1))).toBe('');
    expect(draft.images).toEqual([PICTURE]);
  });

  test('stays in line where its images cannot be asked for', async () => {
    api.trouble = 'keeper_unreachable';
    expect(await edit(held('a', 1))).toBe('said keeper_unreachable');
    expect([draft.text, before]).toEqual(['', {}]);
  });

  test.each([
    [{ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'A' } }],
    [{ type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } }],
  ])('stays in line where the field cannot hold it: %o', async (block) => {
    api.answers.waiting = [{ uuid: 'a', content: [block] }];
    expect(await edit(held('a', 1))).toContain('It stays in line.');
    expect([draft.text, before]).toEqual(['', {}]);
  });
});

describe('what cannot be taken back', () => {
  test('because its turn has come is not in the field either', async () => {
    draft = { text: 'typed ', images: [] };
    refused = { a: 'message_taken' };
    expect(await edit(held('a'), held('b'))).toBe('It was too late to take back 1 message.');
    expect(draft.text).toBe('typed\n\nwords of b');
    expect(gone).toEqual(['b']);
    refused = { c: 'message_taken' };
    draft = { text: 'typed ', images: [] };
    expect(await edit(held('c'))).toBe('It was too late to take it back.');
    expect(draft.text).toBe('typed ');
  });

  test('because another tab took it back at the same time is lost in neither', async () => {
    const problems = await Promise.all([edit(held('a'), held('b')), edit(held('a'), held('b'))]);
    // each tab has taken one of them, and all write the same draft
    for (const words of ['words of a', 'words of b']) expect(draft.text).toContain(words);
    expect([...gone].sort()).toEqual(['a', 'b']);
    expect(problems.join()).toContain('may stand in another place too');
  });

  test.each([
    ['message_taken', ['a']],
    ['message_not_found', []],
  ])('because it left the line by another hand stays in the field: %s', async (code, by) => {
    taken = new Set(by);
    if (code !== 'message_taken') refused = { a: code };
    draft = { text: 'typed', images: [] };
    expect(await edit(held('a'))).toContain('may stand in another place too');
    expect(draft.text).toBe('typed\n\nwords of a');
    // once is enough: another tab has put it there
    await edit(held('a'));
    expect(draft.text).toBe('typed\n\nwords of a');
  });

  test('because nobody answers stands in both places; the rest stays in line', async () => {
    refused = { b: 'clarvis_unreachable' };
    const problem = await edit(held('a'), held('b'), held('c'));
    expect(problem).toContain('said clarvis_unreachable');
    expect(problem).toContain('may still be in line');
    expect(draft.text).toBe('words of a\n\nwords of b');
    expect(gone).toEqual(['a']);
    expect(Object.keys(before)).toEqual(['a', 'b']);
  });

  test('takes nothing from who has typed on meanwhile', async () => {
    refused = { a: 'message_taken' };
    const queue = line();
    const api = {
      ...queue.api,
      cancelQueued: async (id: string, uuid: string) => {
        draft = { text: `${draft.text} and more`, images: [] };
        return queue.api.cancelQueued(id, uuid);
      },
    };
    await moveIntoDraft([held('a')], { ...queue, api }, field);
    expect(draft.text).toBe('words of a and more');
  });
});
