/**
 * Patterns of terminal escape sequences. A string sequence (links of OSC 8, titles) that is never closed
 * ends with its line: it must not hide the rest.
 */

const INTRODUCER = '(?:\\u001b\\[|\\u009b)';
const CLOSED = '(?:\\u0007|\\u001b\\\\|\\u009c)?';
const UNCLOSED = '[^\\u0007\\u001b\\u009c\\n]*';

/** A change of colour; its group holds the parameters. */
const COLOUR = `${INTRODUCER}([0-9;:]*)m`;
const OTHERS = [
  `${INTRODUCER}[0-?]*[ -/]*[@-~]?`,
  `(?:\\u001b[\\]PX^_]|[\\u0090\\u0098\\u009d-\\u009f])${UNCLOSED}${CLOSED}`,
  '\\u001b[ -/]*[0-~]?',
].join('|');
/** All but lines and tabs. */
const CONTROL = '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]';

export const SEQUENCES = new RegExp(`${COLOUR}|${OTHERS}|${CONTROL}`, 'g');
export const CONTROLS = new RegExp(CONTROL, 'g');
export const HAS_CONTROLS = new RegExp(CONTROL);
