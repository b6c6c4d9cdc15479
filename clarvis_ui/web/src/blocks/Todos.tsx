import { type Fields, textOf } from './content';
import { plain } from './safe';

const STATES: Readonly<Record<string, string>> = {
  completed: 'done',
  in_progress: 'in progress',
  pending: 'to do',
};

/** A list of things to do, as a list. */
export function Todos({ todos }: { todos: readonly Fields[] }) {
  return (
    <ul class="todos">
      {todos.map((todo, at) => {
        const state = textOf(todo.status) || 'pending';
        return (
          <li key={at} data-state={state} dir="auto">
            <span class="todo-mark" aria-hidden="true" />
            <span class="spoken">{STATES[state] ?? plain(state)}: </span>
            <span class="todo-words">{plain(textOf(todo.content) || textOf(todo.subject))}</span>
          </li>
        );
      })}
    </ul>
  );
}
