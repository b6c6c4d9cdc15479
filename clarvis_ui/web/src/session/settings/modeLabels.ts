const MODES: Readonly<Record<string, string>> = {
  default: 'ask first',
  acceptEdits: 'accept edits',
  plan: 'plan first',
  bypassPermissions: 'never ask',
  dontAsk: 'refuse the rest',
  auto: 'decide by itself',
};

/** How a permission mode is called. */
export function modeLabel(mode: string): string {
  return Object.hasOwn(MODES, mode) ? (MODES[mode] as string) : mode;
}
