import type { Queued } from '../api/messages';
import type { QueuedMessage } from '../conversation/conversation';
import { counted } from '../lib/format';
import { Icon } from '../ui/Icon';
import './queue.css';

export interface QueueChipsProps {
  queue: readonly QueuedMessage[];
  onTakeBack(queued: QueuedMessage): void;
}

/** What waits for the running turn to end; each can be taken back. */
export function QueueChips({ queue, onTakeBack }: QueueChipsProps) {
  if (queue.length === 0) return null;
  return (
    <ul class="queue" aria-label="Waiting in line">
      {queue.map((queued) => (
        <li key={queued.uuid} class="queue-chip" data-uuid={queued.uuid}>
          <span class="queue-words">
            {queued.interrupt ? 'stopping, then:' : 'queued:'} <bdi>{queuedWords(queued)}</bdi>
          </span>
          <button
            type="button"
            class="quiet queue-back"
            aria-label={`Take back: ${queuedWords(queued)}`}
            title="Take back"
            onClick={() => onTakeBack(queued)}
          >
            <Icon name="clear" size={12} />
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Its words, and how many images come with them. */
export function queuedWords({ text, images }: Queued): string {
  const imageWords = images === 1 ? 'an image' : counted(images, 'image');
  if (text.trim() === '') return imageWords;
  return images === 0 ? text : `${text} (and ${imageWords})`;
}
