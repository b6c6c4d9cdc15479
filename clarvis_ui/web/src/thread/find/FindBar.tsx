import { useLayoutEffect, useRef } from 'preact/hooks';
import { count } from '../../lib/format';
import { Icon } from '../../ui/Icon';
import type { Find } from './useFind';
import './find.css';

/** The find bar: the words, the number of hits, and buttons to the next one. */
export function FindBar({ find }: { find: Find }) {
  const field = useRef<HTMLInputElement>(null);
  // at once: what is typed next belongs here
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, [find.openCount]);
  return (
    <search class="find">
      <input
        ref={field}
        type="text"
        aria-label="Find in this conversation"
        placeholder="Find in this conversation"
        value={find.query}
        dir="auto"
        onInput={(event) => find.search(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.isComposing) return;
          event.preventDefault();
          find.step(event.shiftKey ? -1 : 1);
        }}
      />
      <span class="find-count" role="status">
        {wordsFor(find)}
      </span>
      <button type="button" class="quiet" aria-label="Previous place" onClick={() => find.step(-1)}>
        <Icon name="upwards" />
      </button>
      <button type="button" class="quiet" aria-label="Next place" onClick={() => find.step(1)}>
        <Icon name="downwards" />
      </button>
      <button type="button" class="quiet" aria-label="Close" onClick={find.close}>
        <Icon name="clear" />
      </button>
    </search>
  );
}

function wordsFor({ query, total, current, seeking, more, reading }: Find): string {
  if (query.trim() === '') return '';
  if (seeking) return 'Looking further back…';
  if (total === 0) return reading ? 'Looking into agents…' : 'Nothing found';
  return `${count(current + 1)} of ${count(total)}${more ? '+' : ''}`;
}
