import type { StatusTone } from '../sessions/labels';
import './status-dot.css';

/** Colour for the eye; the words stand beside it. */
export function StatusDot({ tone, elsewhere }: { tone: StatusTone; elsewhere?: true | undefined }) {
  return <i class="dot" data-tone={tone} data-elsewhere={elsewhere} aria-hidden="true" />;
}
