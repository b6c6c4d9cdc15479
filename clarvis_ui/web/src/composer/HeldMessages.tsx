import { useEffect, useRef, useState } from 'preact/hooks';
import type { Queued } from '../api/messages';
import { counted } from '../lib/format';
import { Icon } from '../ui/Icon';
import { queuedWords } from './QueueChips';
import './queue.css';

export interface HeldMessagesProps {
  held: readonly Queued[];
  onSend(held: readonly Queued[]): Promise<void>;
  /** Puts them into the field. */
  onEdit(held: readonly Queued[]): Promise<void>;
  onDiscard(held: readonly Queued[]): Promise<void>;
}

/** Messages that were held when a turn was stopped, until they are sent or discarded. */
export function HeldMessages({ held, onSend, onEdit, onDiscard }: HeldMessagesProps) {
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const keep = useRef<HTMLButtonElement>(null);
  const discard = useRef<HTMLButtonElement>(null);
  const all = held.map(({ uuid }) => uuid).join();

  // one is asked about what one sees
  useEffect(() => setAsking(false), [all]);
  useEffect(() => {
    if (asking) keep.current?.focus();
  }, [asking]);

  if (held.length === 0) return null;

  async function act(how: (held: readonly Queued[]) => Promise<void>): Promise<void> {
    setBusy(true);
    await how(held);
    setBusy(false);
    setAsking(false);
  }

  function leave(): void {
    setAsking(false);
    requestAnimationFrame(() => discard.current?.focus());
  }

  return (
    <section
      class="held"
      aria-label="Held messages"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !asking) return;
        event.preventDefault();
        leave();
      }}
    >
      <div class="held-head">
        <p role="status">
          {asking ? (
            `Discard ${counted(held.length, 'message')}?`
          ) : (
            <b>{counted(held.length, 'message')} held.</b>
          )}
        </p>
        {asking ? (
          <>
            <button
              type="button"
              class="held-discard"
              disabled={busy}
              onClick={() => void act(onDiscard)}
            >
              Discard
            </button>
            <button type="button" ref={keep} disabled={busy} onClick={leave}>
              Keep
            </button>
          </>
        ) : (
          <>
            <button type="button" disabled={busy} onClick={() => void act(onSend)}>
              Send
            </button>
            <button
              type="button"
              class="quiet"
              disabled={busy}
              title="Back into the field"
              onClick={() => void act(onEdit)}
            >
              Edit
            </button>
            <button
              type="button"
              class="quiet"
              ref={discard}
              disabled={busy}
              onClick={() => setAsking(true)}
            >
              Discard
            </button>
          </>
        )}
      </div>
      <ol>
        {held.map((queued) => (
          <li key={queued.uuid} data-uuid={queued.uuid}>
            <bdi dir="auto">{queuedWords(queued)}</bdi>
            {held.length > 1 && !asking && (
              <button
                type="button"
                class="quiet held-back"
                aria-label={`Edit: ${queuedWords(queued)}`}
                title="Edit: back into the field"
                disabled={busy}
                onClick={() => void onEdit([queued])}
              >
                <Icon name="pencil" size={14} />
              </button>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
