import type { Sending } from '../../state/sending';

export interface UnsentProps {
  sendings: readonly Sending[];
  onRetry(uuid: string): void;
  onEdit(uuid: string): void;
}

/** What could not be sent: nothing of it is lost. */
export function Unsent({ sendings, onRetry, onEdit }: UnsentProps) {
  if (sendings.length === 0) return null;
  return (
    <ul class="unsent" aria-label="Not sent">
      {sendings.map((sending) => (
        <li key={sending.uuid} data-uuid={sending.uuid}>
          <p>
            <b>Not sent.</b> {sending.problem} <bdi>{sending.text}</bdi>
          </p>
          <button type="button" onClick={() => onRetry(sending.uuid)}>
            Send again
          </button>
          <button type="button" class="quiet" onClick={() => onEdit(sending.uuid)}>
            Edit
          </button>
        </li>
      ))}
    </ul>
  );
}
