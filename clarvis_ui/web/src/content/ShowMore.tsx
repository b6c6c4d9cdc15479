import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useContext } from 'preact/hooks';
import { Hold } from '../thread/scroll/scrollAnchor';

export interface MoreProps {
  /** What it unfolds. */
  fold: Signal<boolean>;
  kind?: string;
  children: ComponentChildren;
}

/** Shows the rest of something; what is in sight stays where it is. */
export function More({ fold, kind = 'quiet more', children }: MoreProps) {
  const hold = useContext(Hold);
  return (
    <button
      type="button"
      class={kind}
      onClick={() => {
        hold();
        fold.value = true;
      }}
    >
      {children}
    </button>
  );
}
