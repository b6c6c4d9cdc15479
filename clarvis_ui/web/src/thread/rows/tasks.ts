import { stringOf, type ToolResult, type ToolUse } from '../../content/blocks';
import type { Todo } from '../../content/tools/toolSummary';

/** Tasks that Claude keeps call by call, put together again: the list after each of the calls. */

const TOOLS = new Set(['TaskCreate', 'TaskUpdate', 'TaskList', 'TaskGet']);
const CREATED = /Task #(\S+) created/;

export function isTaskCall({ name }: Pick<ToolUse, 'name'>): boolean {
  return TOOLS.has(name);
}

export class TaskList {
  /** By their numbers, in the order in which they were made. */
  private readonly tasks = new Map<string, Todo>();

  /** What became of the list with a call and its result. */
  after({ name, input }: ToolUse, result: ToolResult | null): readonly Todo[] {
    if (result && !result.isError) {
      const words = stringOf(input.subject);
      const status = stringOf(input.status);
      const made = name === 'TaskCreate' ? CREATED.exec(result.text)?.[1] : undefined;
      const changed = stringOf(input.taskId);
      if (made) this.tasks.set(made, { words, status: 'pending' });
      else if (name === 'TaskUpdate' && status === 'deleted') this.tasks.delete(changed);
      else if (name === 'TaskUpdate') {
        // it may have been made before what is loaded
        const before = this.tasks.get(changed) ?? { words: `#${changed}`, status: 'pending' };
        this.tasks.set(changed, {
          words: words || before.words,
          status: status || before.status,
        });
      }
    }
    return [...this.tasks.values()];
  }

  /** What a task is called that a call names by its number. */
  named({ input }: ToolUse): string | null {
    return this.tasks.get(stringOf(input.taskId))?.words ?? null;
  }
}
