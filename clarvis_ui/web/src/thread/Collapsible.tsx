import type { ComponentChildren } from 'preact';
import { ExpandScope } from '../content/expandState';
import { Icon } from '../ui/Icon';
import { useThreadContext } from './context';

export interface CollapsibleProps {
  /** Under which it is remembered whether this is open. */
  name: string;
  class: string;
  summary: ComponentChildren;
  /** What unfolds; made only when it is open. */
  children: () => ComponentChildren;
}

/** A line that unfolds into everything behind it. */
export function Collapsible({ name, class: className, summary, children }: CollapsibleProps) {
  const { expandState, hold } = useThreadContext();
  const fold = expandState.signalOf(name);
  const open = fold.value;
  return (
    <div class={className} data-open={open}>
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
          <ExpandScope name={name} expandState={expandState}>
            {children()}
          </ExpandScope>
        </div>
      )}
    </div>
  );
}
