import { fields, text, verbatim } from '../transport/reading';
import type { Memory } from './memory';
import type { Picture } from './pictures';

/** What was typed and not sent, for each session, over every refresh. */
export interface Draft {
  text: string;
  pictures: readonly Picture[];
}

export interface Drafts {
  read(sessionId: string): Draft;
  write(sessionId: string, draft: Draft): void;
}

const NOTHING: Draft = { text: '', pictures: [] };

export function createDrafts(memory: Memory): Drafts {
  /** What the browser's memory was too small for. */
  const here = new Map<string, Draft>();
  const key = (sessionId: string): string => `draft.${sessionId}`;
  return {
    read: (sessionId) => here.get(sessionId) ?? readDraft(memory.read(key(sessionId))),
    write(sessionId, draft) {
      here.delete(sessionId);
      if (draft.text === '' && draft.pictures.length === 0) memory.forget(key(sessionId));
      else if (!memory.write(key(sessionId), draft)) {
        here.set(sessionId, draft);
        memory.write(key(sessionId), { ...draft, pictures: [] });
      }
    },
  };
}

function readDraft(raw: unknown): Draft {
  const given = fields(raw);
  if (!given) return NOTHING;
  const pictures = Array.isArray(given.pictures) ? given.pictures : [];
  return {
    text: verbatim(given.text),
    pictures: pictures.flatMap((one) => {
      const [mediaType, data] = [text(fields(one)?.mediaType), text(fields(one)?.data)];
      return mediaType && data ? [{ mediaType, data }] : [];
    }),
  };
}
