import { stripControls } from '../../lib/sanitize';
import type { Todo } from './toolSummary';

const STATES: Readonly<Record<string, string>> = {
  completed: 'done',
  in_progress: 'in progress',
  pending: 'to do',
};

/** A list of things to do, as a list. */
export function Todos({ todos }: { todos: readonly Todo[] }) {
  return (
    <ul class="todos">
      {todos.map(({ words, status }, at) => (
        <li key={at} data-state={status} dir="auto">
          <span class="todo-mark" aria-hidden="true" />
          <span class="spoken">{STATES[status] ?? stripControls(status)}: </span>
          <span class="todo-words">{stripControls(words)}</span>
        </li>
      ))}
    </ul>
  );
}
