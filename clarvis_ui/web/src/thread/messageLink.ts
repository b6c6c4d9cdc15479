/** Links to a message: `#session=UUID&message=UUID`; the session alone is enough for the rest. */

export function messageLink(
  location: Pick<Location, 'origin' | 'pathname'>,
  session: string,
  message: string,
): string {
  const fragment = new URLSearchParams({ session, message });
  return `${location.origin}${location.pathname}#${fragment}`;
}

/** The message that the address names, if it is one of this session. */
export function linkedMessage(fragment: string, session: string): string | null {
  const parameters = new URLSearchParams(fragment.replace(/^#/, ''));
  return parameters.get('session') === session ? parameters.get('message') || null : null;
}
