/** Drawn by us on one grid of 16, strokes of 1.5. */
const PATHS = {
  back: 'M9.5 3.5 5 8l4.5 4.5',
  bell: 'M3.75 11.25h8.5L11 9.5V7a3 3 0 0 0-6 0v2.5zM6.75 13.25h2.5',
  branch:
    'M5 5.5v5M11 6.5c0 2-6 1.5-6 4M5 2.75a1.4 1.4 0 1 1 0 2.8 1.4 1.4 0 0 1 0-2.8ZM5 10.5a1.4 1.4 0 1 1 0 2.8 1.4 1.4 0 0 1 0-2.8ZM11 3.75a1.4 1.4 0 1 1 0 2.8 1.4 1.4 0 0 1 0-2.8Z',
  check: 'm3.5 8.5 3 3 6-7',
  clear: 'm4.5 4.5 7 7M11.5 4.5l-7 7',
  copy: 'M6 5.75h6.25v7.5H6zM10 5.5V2.75H3.75v7.5H6',
  downwards: 'M3.5 6 8 10.5 12.5 6',
  folder: 'M2.25 12.75v-9h4l1.5 2h6v7z',
  info: 'M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11ZM8 7.5v3.25M8 5.25h.01',
  leave: 'M6.5 2.75h-3v10.5h3M10 5l3 3-3 3M13 8H6.5',
  link: 'M6.75 9.25a2.6 2.6 0 0 0 3.7 0l2-2a2.6 2.6 0 0 0-3.7-3.7l-.9.9M9.25 6.75a2.6 2.6 0 0 0-3.7 0l-2 2a2.6 2.6 0 0 0 3.7 3.7l.9-.9',
  message: 'M2.75 3.25h10.5v7.5H7.75L5 13.25v-2.5H2.75z',
  microphone:
    'M8 2.25a1.75 1.75 0 0 1 1.75 1.75v3.5a1.75 1.75 0 0 1-3.5 0V4A1.75 1.75 0 0 1 8 2.25ZM4 7.5a4 4 0 0 0 8 0M8 11.5v2.25',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  pencil: 'm3 13 .7-2.8 7-7 2.1 2.1-7 7zM9.3 4.6l2.1 2.1',
  plus: 'M8 3.25v9.5M3.25 8h9.5',
  resume: 'M3.25 8a4.75 4.75 0 1 1 1.5 3.5M3 12.75V9.5h3.25',
  save: 'M8 2.75v7.5M4.5 7 8 10.5 11.5 7M3 13.25h10',
  search: 'M7 2.75a4.25 4.25 0 1 1 0 8.5 4.25 4.25 0 0 1 0-8.5ZM10.25 10.25l3 3',
  speak:
    'M2.75 6.25h2.5L8.5 3.5v9l-3.25-2.75h-2.5zM11 6a2.8 2.8 0 0 1 0 4M12.75 4.25a5.3 5.3 0 0 1 0 7.5',
  stop: 'M4.75 4.75h6.5v6.5h-6.5z',
  timeline: 'M2.5 13.25h11M4.25 10.75v-3M8 10.75v-8M11.75 10.75v-5',
  unfold: 'M6 3.5 10.5 8 6 12.5',
  up: 'M8 12.75v-9M4.25 7.25 8 3.5l3.75 3.75',
  upwards: 'M3.5 10 8 5.5 12.5 10',
} as const;

export type IconName = keyof typeof PATHS;

/** An ornament: the words beside it, or the button's label, say what it means. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      class="icon"
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
