import type { Failure } from '../api/result';
import { StatusDot } from './StatusDot';
import './banner.css';

/** Something is away for now: said quietly, tried again by itself. */
export function Banner({ failure, onRetry }: { failure: Failure; onRetry: () => void }) {
  return (
    <div class="banner" role="status">
      <StatusDot tone="broken" />
      <p>
        {failure.sentence} <span class="banner-hope">Trying again…</span>
      </p>
      <button type="button" class="quiet" onClick={onRetry}>
        Try now
      </button>
    </div>
  );
}
