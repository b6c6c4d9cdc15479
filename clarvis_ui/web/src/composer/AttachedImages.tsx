import { Icon } from '../ui/Icon';
import { type Picture, pictureAddress } from './images';

export interface PicturesProps {
  pictures: readonly Picture[];
  onRemove(at: number): void;
}

/** The images that go along. */
export function Pictures({ pictures, onRemove }: PicturesProps) {
  if (pictures.length === 0) return null;
  return (
    <ul class="pictures" aria-label="Images">
      {pictures.map((picture, at) => (
        <li key={`${at} ${picture.data.length}`}>
          <img src={pictureAddress(picture)} alt={`Number ${at + 1}`} />
          <button type="button" aria-label={`Remove image ${at + 1}`} onClick={() => onRemove(at)}>
            <Icon name="clear" size={12} />
          </button>
        </li>
      ))}
    </ul>
  );
}
