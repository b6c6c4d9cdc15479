import { Logo } from '../ui/Logo';
import './empty-states.css';

/** The address names a session that is not in the list. */
export function MissingSession() {
  return (
    <div class="nothing">
      <Logo size={40} />
      <h1>This session is not here</h1>
      <p>It may have been deleted, or it lies outside the directories that Clarvis shows.</p>
    </div>
  );
}

/** A part of the page could not be fetched: most likely Clarvis was renewed in the meantime. */
export function PageOutOfDate() {
  return (
    <div class="nothing" role="alert">
      <Logo size={40} />
      <h1>This page is out of date</h1>
      <p>A part of it could not be fetched. Nothing that you typed is lost.</p>
      <button type="button" onClick={() => location.reload()}>
        Reload
      </button>
    </div>
  );
}
