import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { imageAddress } from '../lib/sanitize';
import type { ImageBlock } from './blocks';
import './images.css';

/** Images that are in the transcript itself; anything else is named, not loaded. */
export function Images({ images }: { images: readonly ImageBlock[] }) {
  if (images.length === 0) return null;
  return (
    <div class="images">
      {images.map((image, at) => {
        const address = imageAddress(image.mediaType, image.data);
        return address ? (
          <Picture key={at} address={address} name={`Attached, ${at + 1} of ${images.length}`} />
        ) : (
          <span key={at} class="image-unknown">
            An image that cannot be shown
          </span>
        );
      })}
    </div>
  );
}

/** A thumbnail; a click shows it in the size of the window. */
function Picture({ address, name }: { address: string; name: string }) {
  const [large, setLarge] = useState(false);
  return (
    <>
      <button type="button" class="image" title="Look closer" onClick={() => setLarge(true)}>
        <img src={address} alt={name} />
      </button>
      {large && <Large address={address} name={name} onClose={() => setLarge(false)} />}
    </>
  );
}

function Large({ address, name, onClose }: { address: string; name: string; onClose(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} class="image-large" aria-label={name} onClose={onClose}>
      <button type="button" aria-label="Close" onClick={() => dialog.current?.close()}>
        <img src={address} alt={name} />
      </button>
    </dialog>
  );
}
