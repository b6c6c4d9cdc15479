/** The title of the browser's tab: how much waits, and the open session. */

export function tabTitle(waiting: number, title: string | null): string {
  const name = title === null ? 'Clarvis' : `${shortened(title)} · Clarvis`;
  return waiting > 0 ? `(${waiting}) ${name}` : name;
}

const MAX_CHARACTERS = 60;

function shortened(title: string): string {
  return title.length > MAX_CHARACTERS ? `${title.slice(0, MAX_CHARACTERS).trimEnd()}…` : title;
}

const QUIET_ICON = '/favicon.svg';
const MAX_COUNT = 9;

/** The icon with the number of open questions; more than two characters cannot be read. */
export function iconOf(waiting: number): string {
  if (waiting === 0) return QUIET_ICON;
  const number = waiting > MAX_COUNT ? `${MAX_COUNT}+` : String(waiting);
  const drawing = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="none">
<rect width="32" height="32" rx="8" fill="#211f1b"/>
<path d="M20 23.2A8.8 8.8 0 1 1 12 9" stroke="#fbfaf7" stroke-width="3.4" stroke-linecap="round"/>
<circle cx="21.5" cy="10.5" r="10.5" fill="#e58b5f"/>
<text x="21.5" y="16" text-anchor="middle" font-family="sans-serif" font-weight="700"
 font-size="${number.length > 1 ? 13 : 16}" fill="#1d1208">${number}</text>
</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(drawing)}`;
}

export function showInTab(document: Document, waiting: number, title: string | null): void {
  const words = tabTitle(waiting, title);
  if (document.title !== words) document.title = words;
  const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  const href = iconOf(waiting);
  if (!icon || icon.getAttribute('href') === href) return;
  icon.setAttribute('href', href);
  // an app that was installed has an icon outside of the browser; some have no room for a number
  document.defaultView?.navigator.setAppBadge?.(waiting).catch(() => {});
}
