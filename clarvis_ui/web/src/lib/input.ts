/** Whether this key only finishes a word of an input method. Safari says so after the word has
 * ended, and then by the number alone. */
export function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229;
}

/** On a phone Enter begins a new line: the keyboard has no other key for it. */
export function isTouch(): boolean {
  return matchMedia('(pointer: coarse)').matches;
}
