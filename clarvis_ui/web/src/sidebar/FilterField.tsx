import type { Ref } from 'preact';
import { Icon } from '../ui/Icon';

export interface FilterFieldProps {
  query: string;
  field: Ref<HTMLInputElement>;
  onQuery(query: string): void;
  /** Down from here leads into the list. */
  onDown(): void;
  /** Enter opens the first match. */
  onEnter(): void;
}

export function FilterField({ query, field, onQuery, onDown, onEnter }: FilterFieldProps) {
  function onKeyDown(event: KeyboardEvent): void {
    if (event.isComposing) return;
    switch (event.key) {
      case 'ArrowDown':
        event.preventDefault();
        onDown();
        break;
      case 'Enter':
        onEnter();
        break;
      case 'Escape':
        if (query === '') (event.target as HTMLElement).blur();
        onQuery('');
        break;
    }
  }

  return (
    <search class="filter">
      <Icon name="search" />
      <input
        ref={field}
        type="search"
        aria-label="Filter sessions"
        placeholder="Filter sessions"
        autocomplete="off"
        spellcheck={false}
        value={query}
        onInput={(event) => onQuery(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {query === '' ? (
        <kbd title="press / to come here">/</kbd>
      ) : (
        <button
          type="button"
          class="quiet"
          aria-label="Clear the filter"
          onClick={() => onQuery('')}
        >
          <Icon name="clear" />
        </button>
      )}
    </search>
  );
}
