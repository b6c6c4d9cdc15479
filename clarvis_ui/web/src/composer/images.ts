import { fields, text } from '../api/decode';
import type { Block } from '../api/messages';

/** An image that goes along with a message. */
export interface Picture {
  mediaType: string;
  /** Base64. */
  data: string;
}

export function pictureBlock({ mediaType, data }: Picture): Block {
  return { type: 'image', source: { type: 'base64', media_type: mediaType, data } };
}

export function pictureAddress({ mediaType, data }: Picture): string {
  return `data:${mediaType};base64,${data}`;
}

/** The images that a message was made with. */
export function picturesOf(content: readonly Block[]): Picture[] {
  return content.flatMap((block) => {
    const source = block.type === 'image' ? fields(block.source) : null;
    const [mediaType, data] = [text(source?.media_type), text(source?.data)];
    return mediaType && data ? [{ mediaType, data }] : [];
  });
}

export function contentOf(words: string, pictures: readonly Picture[]): Block[] {
  const said = words === '' ? [] : [{ type: 'text', text: words }];
  return [...pictures.map(pictureBlock), ...said];
}
