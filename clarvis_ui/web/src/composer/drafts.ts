import { each, fields, text, verbatim } from '../api/decode';
import type { BrowserStorage } from '../lib/storage';
import type { AttachedImage } from './images';

/** What was typed and not sent, for each session, over every refresh and in every tab. */
export interface Draft {
  text: string;
  images: readonly AttachedImage[];
}

export interface Drafts {
  read(sessionId: string): Draft;
  write(sessionId: string, draft: Draft): void;
  /** Calls when another tab has written it, or has sent it. */
  onElsewhere(sessionId: string, listener: (draft: Draft) => void): () => void;
}

/** The key of the draft of a session's system prompt. */
export function systemPromptDraft(sessionId: string): string {
  return `${sessionId}.system-prompt`;
}

const NONE: readonly AttachedImage[] = [];

export function createDrafts(storage: BrowserStorage): Drafts {
  /** The images as they were written last: they are large, and keys are typed one by one. */
  const storedImages = new Map<string, readonly AttachedImage[]>();
  const key = (sessionId: string): string => `draft.${sessionId}`;
  const picturesKey = (sessionId: string): string => `pictures.${sessionId}`;

  function store(where: string, value: unknown, isEmpty: boolean): void {
    if (isEmpty) storage.forget(where);
    else storage.write(where, value);
  }

  const words = (sessionId: string): string => verbatim(fields(storage.read(key(sessionId)))?.text);

  function pictures(sessionId: string): readonly AttachedImage[] {
    const images = each(storage.read(picturesKey(sessionId)), readStoredImage);
    storedImages.set(sessionId, images);
    return images;
  }

  return {
    read: (sessionId) => ({ text: words(sessionId), images: pictures(sessionId) }),
    write(sessionId, { text, images: pictures }) {
      store(key(sessionId), { text }, text === '');
      if (pictures === (storedImages.get(sessionId) ?? NONE)) return;
      storedImages.set(sessionId, pictures);
      store(picturesKey(sessionId), pictures, pictures.length === 0);
    },
    onElsewhere: (sessionId, listener) =>
      storage.onElsewhere((changed) => {
        const same = storedImages.get(sessionId) ?? NONE;
        if (changed === key(sessionId)) listener({ text: words(sessionId), images: same });
        else if (changed === picturesKey(sessionId))
          listener({ text: words(sessionId), images: pictures(sessionId) });
      }),
  };
}

function readStoredImage(raw: unknown): AttachedImage | null {
  const [mediaType, data] = [text(fields(raw)?.mediaType), text(fields(raw)?.data)];
  return mediaType && data ? { mediaType, data } : null;
}
