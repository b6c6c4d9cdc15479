import type { Tone } from '../state/described';
import './status-dot.css';

/** Colour for the eye; the words stand beside it. */
export function StatusDot({ tone }: { tone: Tone }) {
  return <i class="dot" data-tone={tone} aria-hidden="true" />;
}
