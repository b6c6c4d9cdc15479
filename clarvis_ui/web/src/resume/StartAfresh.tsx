export interface StartAfreshProps {
  warnings: readonly string[];
  onResume(): void;
  onFresh(): void;
}

/** Much may have changed: one goes on all the same, or begins anew. */
export function StartAfresh({ warnings, onResume, onFresh }: StartAfreshProps) {
  return (
    <div class="recap-anew">
      {warnings.length > 0 && <p dir="auto">{warnings.join(' ')}</p>}
      <button type="button" onClick={onResume}>
        Resume it
      </button>
      <button type="button" onClick={onFresh}>
        Start afresh
      </button>
    </div>
  );
}
