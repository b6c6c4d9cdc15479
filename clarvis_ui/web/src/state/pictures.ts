import type { Block } from '../transport/messages';

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

export function contentOf(text: string, pictures: readonly Picture[]): Block[] {
  const words = text === '' ? [] : [{ type: 'text', text }];
  return [...pictures.map(pictureBlock), ...words];
}
