import type { Image } from './content';
import { imageAddress } from './safe';

/** Images that are in the transcript itself; anything else is named, not loaded. */
export function Images({ images }: { images: readonly Image[] }) {
  if (images.length === 0) return null;
  return (
    <div class="images">
      {images.map((image, at) => {
        const address = imageAddress(image.mediaType, image.data);
        return address ? (
          <img key={at} src={address} alt={`Attached, ${at + 1} of ${images.length}`} />
        ) : (
          <span key={at} class="image-unknown">
            An image that cannot be shown
          </span>
        );
      })}
    </div>
  );
}
