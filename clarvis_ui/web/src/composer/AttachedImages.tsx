import { Icon } from '../ui/Icon';
import { type AttachedImage, imageDataUrl } from './images';

export interface AttachedImagesProps {
  pictures: readonly AttachedImage[];
  onRemove(at: number): void;
}

/** The images that go along. */
export function AttachedImages({ pictures, onRemove }: AttachedImagesProps) {
  if (pictures.length === 0) return null;
  return (
    <ul class="pictures" aria-label="Images">
      {pictures.map((picture, at) => (
        <li key={`${at} ${picture.data.length}`}>
          <img src={imageDataUrl(picture)} alt={`Number ${at + 1}`} />
          <button type="button" aria-label={`Remove image ${at + 1}`} onClick={() => onRemove(at)}>
            <Icon name="clear" size={12} />
          </button>
        </li>
      ))}
    </ul>
  );
}
