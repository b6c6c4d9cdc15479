import type { Listing } from '../sessions/list';
import { useDelayed } from '../ui/useDelayed';
import './empty-list.css';

/** Why there is nothing to list: not yet, not now, not this, or not at all. */
export function EmptyList({ listing, query }: { listing: Listing; query: string }) {
  const late = useDelayed(200);
  if (listing.sessions.size > 0) {
    return (
      <div class="empty">
        <h2>Nothing matches</h2>
        <p>
          No session has <q>{query.trim()}</q> in its title, prompts, directory or branch.
        </p>
      </div>
    );
  }
  if (listing.complete) {
    return (
      <div class="empty">
        <h2>No sessions yet</h2>
        <p>
          Begin one with New, or run <code>claude</code> in a project: its session appears here by
          itself.
        </p>
      </div>
    );
  }
  if (listing.failure) {
    return (
      <div class="empty">
        <h2>Waiting for the keeper</h2>
        <p>Your sessions appear as soon as it answers.</p>
      </div>
    );
  }
  return late ? <Skeleton /> : <div class="empty" />;
}

const WIDTHS = ['62%', '78%', '54%', '70%', '48%', '66%'];

function Skeleton() {
  return (
    <div class="skeleton" aria-hidden="true">
      {WIDTHS.map((width) => (
        <div key={width} class="skeleton-row">
          <div style={{ width }} />
          <div />
        </div>
      ))}
    </div>
  );
}
