import type { Queued } from '../../transport/messages';
import { Icon } from '../../ui/Icon';

export interface QueueChipsProps {
  queue: readonly Queued[];
  onTakeBack(uuid: string): void;
}

/** What waits for the running turn to end; each can be taken back. */
export function QueueChips({ queue, onTakeBack }: QueueChipsProps) {
  if (queue.length === 0) return null;
  return (
    <ul class="queue" aria-label="Waiting in line">
      {queue.map((queued) => (
        <li key={queued.uuid} class="queue-chip" data-uuid={queued.uuid}>
          <span class="queue-words">
            queued: <bdi>{queued.text || imagesOf(queued)}</bdi>
          </span>
          <button
            type="button"
            class="quiet queue-back"
            aria-label={`Take back: ${queued.text}`}
            title="Take back"
            onClick={() => onTakeBack(queued.uuid)}
          >
            <Icon name="clear" size={12} />
          </button>
        </li>
      ))}
    </ul>
  );
}

function imagesOf({ images }: Queued): string {
  return images === 1 ? 'an image' : `${images} images`;
}
