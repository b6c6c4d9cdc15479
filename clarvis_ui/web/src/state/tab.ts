/** What the browser's tab says: how much waits, and where one is. */

export function tabTitle(waiting: number, title: string | null): string {
  const name = title === null ? 'Clarvis' : `${shortened(title)} · Clarvis`;
  return waiting > 0 ? `(${waiting}) ${name}` : name;
}

const LONGEST = 60;

function shortened(title: string): string {
  return title.length > LONGEST ? `${title.slice(0, LONGEST).trimEnd()}…` : title;
}

export const QUIET_ICON = '/favicon.svg';
export const WAITING_ICON = '/favicon-waiting.svg';

export function showInTab(document: Document, waiting: number, title: string | null): void {
  const words = tabTitle(waiting, title);
  if (document.title !== words) document.title = words;
  const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  const href = waiting > 0 ? WAITING_ICON : QUIET_ICON;
  if (icon && icon.getAttribute('href') !== href) icon.setAttribute('href', href);
}
