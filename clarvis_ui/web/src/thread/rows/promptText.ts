import { fieldsOf, stringOf } from '../../content/blocks';
import { stripControls } from '../../lib/sanitize';

/** What a person typed, out of what Claude Code wrapped around it. */

const WRAPPING =
  /<(system-reminder|ide_opened_file|ide_selection|ide_diagnostics|local-command-caveat|session-start-hook|user-prompt-submit-hook)>[\s\S]*?<\/\1>/g;

export function asTyped(text: string): string {
  return (text.includes('<') ? text.replace(WRAPPING, '') : text).trim();
}

function inside(tag: string, text: string): string | null {
  return new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(text)?.[1]?.trim() ?? null;
}

/** A slash command, `!` command or `#` note, or what one of them said. */
export interface CommandText {
  typed: string | null;
  output: string | null;
}

export function commandOf(text: string): CommandText {
  const name = inside('command-name', text);
  const shell = inside('bash-input', text);
  const note = inside('user-memory-input', text);
  const output = ['local-command-stdout', 'local-command-stderr', 'bash-stdout', 'bash-stderr']
    .map((tag) => inside(tag, text))
    .filter((text) => text)
    .join('\n');
  const typed =
    (name && `${name} ${inside('command-args', text) ?? ''}`.trim()) ??
    (shell && `! ${shell}`) ??
    (note && `# ${note}`);
  if (typed || output || /<(?:local-command|bash)-std/.test(text)) {
    return { typed: typed || null, output: output || null };
  }
  return { typed: null, output: text.trim() || null };
}

/** A notice of the machine in a line; what is longer unfolds. */
export function noticeOf(text: string): { words: string; detail: string | null } {
  const summary = inside('summary', text);
  if (summary) return { words: stripControls(summary), detail: inside('result', text) };
  const bare = stripControls(text.replace(/<\/?[a-z][\w-]*(?:\s[^<>]*)?>/gi, ' ')).trim();
  const [first = '', ...rest] = bare.split('\n');
  const short = first.length > 200 ? `${first.slice(0, 200)}…` : first;
  return { words: short || 'Notice', detail: rest.length > 0 || short !== first ? bare : null };
}

/** An error of the API in its own words, where they came wrapped in JSON. */
export function withoutJson(text: string): string {
  const [, before = '', json] = /^([^{]*)(\{[\s\S]*\})\s*$/.exec(text) ?? [];
  if (!json) return text;
  try {
    const { error, message } = fieldsOf(JSON.parse(json));
    const words = stringOf(fieldsOf(error).message) || stringOf(message);
    return words ? `${before}${words}` : text;
  } catch {
    return text;
  }
}

/** An attempt that failed, and how often it was made again after the first time. */
export function retried(words: string, again: number): string {
  return `${words} · tried again${again > 0 ? ` ${again + 1} times` : ''}`;
}
