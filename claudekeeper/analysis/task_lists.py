"""The session's own lists of tasks: what a call of one of their tools makes of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec

from claudekeeper.transcripts.untyped import replace_surrogates, shorten, text_field

TaskState = Literal["pending", "in_progress", "completed"]

MAX_TASKS = 500

_CREATED = re.compile(r"Task #(\S+) created")
_LISTED = re.compile(r"^#(\S+) \[(pending|in_progress|completed)\] (.+)$", re.MULTILINE)


class Task(msgspec.Struct, array_like=True, gc=False):
    """An item of a task list."""

    id: str
    text: str
    state: TaskState = "pending"
    group: str | None = None
    # the same in words for something that is being done
    active_text: str | None = None


def todos_of(given: Any) -> list[Task]:
    """What TodoWrite was given: the whole list, each time."""
    return list(_parse_todos(given))[:MAX_TASKS]


def add_created_task(tasks: list[Task], given: Any, words: str) -> list[Task]:
    """With the task that TaskCreate says it made."""
    made = _CREATED.search(replace_surrogates(words))
    text = text_field(given, "subject") or text_field(given, "description")
    if made is None or not text or len(tasks) >= MAX_TASKS:
        return tasks
    doing = text_field(given, "activeForm") or None
    task = Task(made[1], shorten(text), "pending", text_field(given, "owner") or None, doing)
    return [*_remove_task(tasks, made[1]), task]


def apply_task_update(tasks: list[Task], given: Any) -> list[Task]:
    """As TaskUpdate wants it."""
    task_id = text_field(given, "taskId")
    state = text_field(given, "status")
    if state == "deleted":
        return _remove_task(tasks, task_id)
    for task in tasks:
        if task.id == task_id:
            task.text = shorten(text_field(given, "subject")) or task.text
            task.group = text_field(given, "owner") or task.group
            task.active_text = text_field(given, "activeForm") or task.active_text
            task.state = _parse_state(state) or task.state
    return tasks


def apply_task_list(tasks: list[Task], words: str) -> list[Task]:
    """What TaskList says counts: others may have worked on it."""
    known = {task.id: task for task in tasks}
    more: list[Task] = []
    for task_id, state, text in _LISTED.findall(replace_surrogates(words))[:MAX_TASKS]:
        if task_id in known:
            known[task_id].state = state
        elif len(tasks) + len(more) < MAX_TASKS:
            more.append(Task(task_id, shorten(text), state))
    return [*tasks, *more]


def count_done(tasks: Iterable[Task]) -> int:
    return sum(task.state == "completed" for task in tasks)


def _remove_task(tasks: list[Task], task_id: str) -> list[Task]:
    return [task for task in tasks if task.id != task_id]


def _parse_todos(given: Any) -> Iterator[Task]:
    items = given.get("todos") if isinstance(given, dict) else None
    for number, item in enumerate(items if isinstance(items, list) else [], start=1):
        text = text_field(item, "content") or text_field(item, "subject")
        if text:
            yield Task(
                text_field(item, "id") or str(number),
                shorten(text),
                _parse_state(text_field(item, "status")) or "pending",
                None,
                shorten(text_field(item, "activeForm")) or None,
            )


def _parse_state(text: str) -> TaskState | None:
    match text:
        case "pending" | "in_progress" | "completed":
            return text
        case "cancelled" | "done":
            return "completed"
        case _:
            return None
