import { fields, text } from '../api/decode';
import type { Block } from '../api/messages';

/** An image that goes along with a message. */
export interface AttachedImage {
  mediaType: string;
  /** Base64. */
  data: string;
}

export function imageBlock({ mediaType, data }: AttachedImage): Block {
  return { type: 'image', source: { type: 'base64', media_type: mediaType, data } };
}

export function imageDataUrl({ mediaType, data }: AttachedImage): string {
  return `data:${mediaType};base64,${data}`;
}

/** The images that a message was made with. */
export function imagesOf(content: readonly Block[]): AttachedImage[] {
  return content.flatMap((block) => {
    const source = block.type === 'image' ? fields(block.source) : null;
    const [mediaType, data] = [text(source?.media_type), text(source?.data)];
    return mediaType && data ? [{ mediaType, data }] : [];
  });
}

export function contentOf(words: string, images: readonly AttachedImage[]): Block[] {
  const blocks = words === '' ? [] : [{ type: 'text', text: words }];
  return [...images.map(imageBlock), ...blocks];
}
