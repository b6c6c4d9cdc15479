/** Errors are values: whoever asks the server gets one of these, never an exception. */
export type Outcome<T> = { ok: true; value: T } | { ok: false; failure: Failure };

/** `code` is for programs, `sentence` for people. */
export interface Failure {
  code: string;
  sentence: string;
  /** What can be done instead, where the server knows. */
  choices?: readonly string[];
}

/** Codes of our own, for what no server could tell us. */
export const CLARVIS_UNREACHABLE = 'clarvis_unreachable';
export const NOT_UNDERSTOOD = 'not_understood';
export const CANCELLED = 'cancelled';

/** The codes of the servers that the page acts on; all others it only shows. */
export const NOT_LOGGED_IN = 'not_logged_in';
/** All places for running sessions are taken. */
export const KEEPER_BUSY = 'keeper_busy';
/** A message is in the queue no more: Claude got it, or somebody took it back. */
export const MESSAGE_TAKEN = 'message_taken';
export const MESSAGE_NOT_FOUND = 'message_not_found';
/** Among the choices where somebody took it back: it is not said, and can be sent again. */
export const SEND_AGAIN = 'send';
/** Somebody else runs the session. */
export const SESSION_ELSEWHERE = 'session_elsewhere';

export function success<T>(value: T): Outcome<T> {
  return { ok: true, value };
}

export function failed<T>(
  code: string,
  sentence: string,
  choices: readonly string[] = [],
): Outcome<T> {
  return { ok: false, failure: { code, sentence, ...(choices.length > 0 && { choices }) } };
}
