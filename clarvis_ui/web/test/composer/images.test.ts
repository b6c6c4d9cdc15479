import { expect, test } from 'vitest';
import { contentOf, imagesOf } from '../../src/composer/images';

test('a message that is taken apart again has the same images', () => {
  const images = [
    { mediaType: 'image/png', data: 'AAAA' },
    { mediaType: 'image/jpeg', data: 'BBBB' },
  ];
  expect(imagesOf(contentOf('words', images))).toEqual(images);
  expect(imagesOf(contentOf('words', []))).toEqual([]);
});

test('what is no image of ours is left alone', () => {
  expect(imagesOf([{ type: 'image' }, { type: 'image', source: { data: 'A' } }])).toEqual([]);
});
