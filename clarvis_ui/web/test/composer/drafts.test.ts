import { beforeEach, describe, expect, test } from 'vitest';
import { createDrafts, type Draft } from '../../src/composer/drafts';
import { createBrowserStorage } from '../../src/lib/storage';
import { FakeStorage } from '../support/fakes';

const PICTURE = { mediaType: 'image/png', data: 'AAAA' };
let storage: FakeStorage;
let written: string[];

/** A tab of its own, in the same browser as the others. */
function tab(room = Number.POSITIVE_INFINITY) {
  const events = new EventTarget();
  const tabStorage = createBrowserStorage(
    {
      get length() {
        return storage.length;
      },
      key: (at) => storage.key(at),
      getItem: (key) => storage.getItem(key),
      removeItem: (key) => storage.removeItem(key),
      setItem(key, value) {
        if (value.length > room) throw new Error('full');
        written.push(key);
        storage.setItem(key, value);
      },
    },
    events as unknown as Window,
  );
  const drafts = createDrafts(tabStorage);
  const notify = (key: string) => {
    events.dispatchEvent(Object.assign(new Event('storage'), { key: `clarvis.${key}` }));
  };
  return { drafts, notify };
}

beforeEach(() => {
  storage = new FakeStorage();
  written = [];
});

describe('a draft', () => {
  test('is there after a refresh, images included, and gone once it is sent', () => {
    tab().drafts.write('s', { text: 'look at', images: [PICTURE] });
    expect(tab().drafts.read('s')).toEqual({ text: 'look at', images: [PICTURE] });
    const after = tab().drafts;
    after.read('s');
    after.write('s', { text: '', images: [] });
    expect(tab().drafts.read('s')).toEqual({ text: '', images: [] });
    expect(storage.length).toBe(0);
  });

  test('does not write its images again with every key', () => {
    const { drafts } = tab();
    const images = [PICTURE];
    for (const text of ['l', 'lo', 'loo', 'look']) drafts.write('s', { text, images });
    expect(written.filter((key) => key.includes('pictures'))).toHaveLength(1);
    const { drafts: refreshed } = tab();
    const draft = refreshed.read('s');
    refreshed.write('s', { ...draft, text: 'look at' });
    expect(written.filter((key) => key.includes('pictures'))).toHaveLength(1);
  });

  test('with more images than the browser keeps has them as long as the page is there', () => {
    const { drafts } = tab(40);
    const images = [PICTURE];
    drafts.write('s', { text: 'look', images });
    expect(drafts.read('s')).toEqual({ text: 'look', images });
    expect(tab().drafts.read('s')).toEqual({ text: 'look', images: [] });
  });

  test('is the same in every tab: what one types the others have, what it sends is gone', () => {
    const [one, other] = [tab(40), tab()];
    const images = [PICTURE];
    one.drafts.write('s', { text: 'mine', images });
    const received: Draft[] = [];
    const leave = one.drafts.onElsewhere('s', (draft) => received.push(draft));
    other.drafts.read('s');
    other.drafts.write('s', { text: 'mine, and on', images: [] });
    one.notify('draft.another');
    one.notify('draft.s');
    // its own images, which no other tab could see, stay
    expect(received).toEqual([{ text: 'mine, and on', images }]);
    other.drafts.write('s', { text: '', images: [] });
    one.notify('draft.s');
    expect(received.at(-1)?.text).toBe('');
    leave();
    one.notify('draft.s');
    expect(received).toHaveLength(2);
  });
});
