import type { Session } from '../transport/wire';

/** What a session is called, what it is doing, and how one goes on with it: as people say it. */

export function titleOf(session: Session): string {
  return session.name ?? session.title ?? session.firstPrompt ?? 'Untitled session';
}

/** Which colour a state has; the words are said beside it. */
export type Tone = 'quiet' | 'running' | 'waiting' | 'terminal' | 'broken';

export interface Status {
  tone: Tone;
  words: string;
}

export function statusOf(session: Session): Status {
  const terminal = session.origin === 'terminal';
  switch (session.state) {
    case 'error':
      return { tone: 'broken', words: session.error?.message ?? 'transcript cannot be read' };
    case 'waiting':
      return { tone: 'waiting', words: terminal ? 'waiting in a terminal' : 'waiting for you' };
    case 'starting':
      return { tone: 'running', words: 'starting…' };
    case 'running':
      return { tone: 'running', words: terminal ? 'running in a terminal' : 'running…' };
    case 'idle':
      return terminal
        ? { tone: 'terminal', words: 'in a terminal · idle' }
        : { tone: 'quiet', words: 'idle' };
    default:
      return session.state satisfies never;
  }
}

/** The second line of a row: the last prompt, or, where the title says that already, another. */
export function summaryOf(session: Session): string | null {
  const title = titleOf(session);
  const said = [session.lastPrompt, session.firstPrompt].find(
    (prompt) => prompt !== null && prompt !== title,
  );
  return said ?? session.workdir;
}

const PLAIN_WORD = /^[A-Za-z0-9_@%+=:,./-]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

function shellWord(word: string): string {
  return PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** What is pasted into a terminal, one part a command. */
export type CommandParts = readonly string[];

/**
 * A command to paste into a terminal. The directory comes out of a transcript, which anybody may
 * have written: it is quoted, and left out where it could make the terminal do something else.
 */
export function resumeCommand(session: Session): CommandParts {
  const resume = `claude --resume ${shellWord(session.id)}`;
  const workdir = session.workdir;
  if (workdir === null || CONTROL.test(workdir) || !workdir.startsWith('/')) return [resume];
  return [`cd ${shellWord(workdir)} && `, resume];
}
