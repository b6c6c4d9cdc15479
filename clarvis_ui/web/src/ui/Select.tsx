import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Icon } from './Icon';
import './select.css';

export interface SelectOption {
  value: string;
  label: string;
  description?: string | null;
}

export interface SelectProps {
  /** What is chosen here. */
  label: string;
  display: ComponentChildren;
  value: string | null;
  /** Null while they are not known yet. */
  options: readonly SelectOption[] | null;
  /** Somebody is about to open it. */
  onWant?(): void;
  onChoose(value: string): void;
}

/** A button that opens a list of which one is chosen. */
export function Select({ label, display, value, options, onWant, onChoose }: SelectProps) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();

  useEffect(() => {
    if (!open) return;
    const list = box.current;
    const chosen = list?.querySelector<HTMLElement>('[aria-checked=true]');
    (chosen ?? list?.querySelector<HTMLElement>('[role=menuitemradio]'))?.focus();
    function outside(event: Event): void {
      if (event.target instanceof Node && !list?.contains(event.target)) setOpen(false);
    }
    document.addEventListener('pointerdown', outside);
    return () => document.removeEventListener('pointerdown', outside);
  }, [open]);

  function close(): void {
    setOpen(false);
    button.current?.focus();
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (!open) return;
    const items = [...(box.current?.querySelectorAll<HTMLElement>('[role=menuitemradio]') ?? [])];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const to: Readonly<Record<string, number>> = {
      ArrowDown: (at + 1) % items.length,
      ArrowUp: (at - 1 + items.length) % items.length,
      Home: 0,
      End: items.length - 1,
    };
    if (event.key === 'Escape' || event.key === 'Tab') {
      event.stopPropagation();
      if (event.key === 'Escape') event.preventDefault();
      close();
    } else if (Object.hasOwn(to, event.key) && items.length > 0) {
      event.preventDefault();
      items[to[event.key] as number]?.focus();
    }
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys are passed on from the items inside
    <div class="choice" ref={box} onKeyDown={onKeyDown}>
      <button
        ref={button}
        type="button"
        class="quiet choice-button"
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={id}
        aria-label={`${label}: ${typeof display === 'string' ? display : ''}`}
        title={label}
        onPointerEnter={onWant}
        onFocus={onWant}
        onClick={() => {
          onWant?.();
          setOpen(!open);
        }}
      >
        <span class="choice-shown">{display}</span>
        <Icon name="downwards" size={12} />
      </button>
      {open && (
        <div class="choice-list" id={id} role="menu" aria-label={label}>
          {options === null && <p class="choice-loading">Asking Claude Code…</p>}
          {options?.map((option) => (
            <button
              key={option.value}
              type="button"
              role="menuitemradio"
              aria-checked={option.value === value}
              tabIndex={-1}
              onClick={() => {
                close();
                if (option.value !== value) onChoose(option.value);
              }}
            >
              <span class="choice-mark">
                {option.value === value && <Icon name="check" size={14} />}
              </span>
              <span class="choice-words">
                <b>{option.label}</b>
                {option.description && <span>{option.description}</span>}
              </span>
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
