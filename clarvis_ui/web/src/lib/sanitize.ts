import { CONTROLS, HAS_CONTROLS, SEQUENCES } from '../content/tools/ansiEscapes';

/**
 * Transcripts are hostile: whatever a page, a file or a tool said may stand in them. Text goes
 * into the page only as text; what is left to do is to take away what terminals would obey, to
 * spell out what nobody can see, and to let only harmless addresses become links.
 */

/** Characters that turn the direction of what follows, or cannot be seen at all. */
const DECEIVING =
  /[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2028\u2029\u2060-\u2064\u2066-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

/** The text without escape sequences and control characters; lines and tabs stay. */
export function stripControls(text: string): string {
  const lines = text.replace(/\r\n?/g, '\n');
  if (!HAS_CONTROLS.test(lines)) return lines;
  return lines.replace(SEQUENCES, '');
}

/** For what people decide by (commands, paths): nothing in it may hide or reorder the rest. */
export function revealInvisible(text: string): string {
  return text
    .replace(/\r\n/g, '\n')
    .replace(CONTROLS, (character) => named(character))
    .replace(DECEIVING, (character) => named(character));
}

function named(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return `⟨U+${code.padStart(4, '0')}⟩`;
}

const HARMLESS = new Set(['http:', 'https:', 'mailto:']);

/** The address if it is one that may become a link, else null: it stays text. */
export function safeHref(address: string): string | null {
  try {
    const url = new URL(address.trim());
    return HARMLESS.has(url.protocol) ? url.href : null;
  } catch {
    return null; // relative ones would lead into Clarvis itself
  }
}

const RASTER = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const BASE64 = /^[A-Za-z0-9+/\s]+={0,2}\s*$/;

/** The address of an image that is in the transcript itself, of a kind that carries no script. */
export function imageAddress(mediaType: unknown, data: unknown): string | null {
  if (typeof mediaType !== 'string' || typeof data !== 'string') return null;
  if (!RASTER.has(mediaType) || !BASE64.test(data)) return null;
  return `data:${mediaType};base64,${data}`;
}
