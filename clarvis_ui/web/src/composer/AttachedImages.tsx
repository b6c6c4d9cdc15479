import { Icon } from '../ui/Icon';
import { type AttachedImage, imageDataUrl } from './images';

export interface AttachedImagesProps {
  images: readonly AttachedImage[];
  onRemove(at: number): void;
}

/** The images that go along. */
export function AttachedImages({ images, onRemove }: AttachedImagesProps) {
  if (images.length === 0) return null;
  return (
    <ul class="pictures" aria-label="Images">
      {images.map((image, at) => (
        <li key={`${at} ${image.data.length}`}>
          <img src={imageDataUrl(image)} alt={`Number ${at + 1}`} />
          <button type="button" aria-label={`Remove image ${at + 1}`} onClick={() => onRemove(at)}>
            <Icon name="clear" size={12} />
          </button>
        </li>
      ))}
    </ul>
  );
}
