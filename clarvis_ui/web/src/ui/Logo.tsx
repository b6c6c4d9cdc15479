/** Clarvis's own sign: an open ring that keeps a point. */
export function Logo({ size = 20 }: { size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 32 32" fill="none" aria-hidden="true">
      <path
        d="M24.5 9.2A10.5 10.5 0 1 0 24.5 22.8"
        stroke="currentColor"
        stroke-width="4"
        stroke-linecap="round"
      />
      <circle cx="17" cy="16" r="3.2" fill="currentColor" />
    </svg>
  );
}
