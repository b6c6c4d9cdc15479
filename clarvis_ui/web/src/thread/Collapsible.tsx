import type { ComponentChildren } from 'preact';
import { Within } from '../content/expandState';
import { Icon } from '../ui/Icon';
import { useReader } from './context';

export interface FoldProps {
  /** Under which it is remembered whether this is open. */
  name: string;
  class: string;
  summary: ComponentChildren;
  /** What unfolds; made only when it is open. */
  children: () => ComponentChildren;
}

/** A line that unfolds into everything behind it. */
export function Fold({ name, class: look, summary, children }: FoldProps) {
  const { folds, hold } = useReader();
  const fold = folds.of(name);
  const open = fold.value;
  return (
    <div class={look} data-open={open}>
      <button
        type="button"
        class="fold"
        aria-expanded={open}
        onClick={() => {
          hold();
          fold.value = !open;
        }}
      >
        <span class="fold-mark">
          <Icon name="unfold" size={12} />
        </span>
        {summary}
      </button>
      {open && (
        <div class="fold-body">
          <Within name={name} folds={folds}>
            {children()}
          </Within>
        </div>
      )}
    </div>
  );
}
