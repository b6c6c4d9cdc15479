import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useContext } from 'preact/hooks';
import { HoldScroll } from '../thread/scroll/scrollAnchor';

export interface ShowMoreProps {
  /** What it unfolds. */
  fold: Signal<boolean>;
  kind?: string;
  children: ComponentChildren;
}

/** Expands the rest of something. The visible part does not move. */
export function ShowMore({ fold, kind = 'quiet more', children }: ShowMoreProps) {
  const hold = useContext(HoldScroll);
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
