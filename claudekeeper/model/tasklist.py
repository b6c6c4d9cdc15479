"""The session's own lists of tasks: what a call of one of their tools makes of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec

from claudekeeper.model.loose import short, text_of, whole

TaskState = Literal["pending", "in_progress", "completed"]

MOST_TASKS = 500

_CREATED = re.compile(r"Task #(\S+) created")
_LISTED = re.compile(r"^#(\S+) \[(pending|in_progress|completed)\] (.+)$", re.MULTILINE)


class Task(msgspec.Struct, array_like=True, gc=False):
    """An item of a task list."""

    id: str
    text: str
    state: TaskState = "pending"
    group: str | None = None
    # the same in words for something that is being done
    doing: str | None = None


def todos_of(given: Any) -> list[Task]:
    """What TodoWrite was given: the whole list, each time."""
    return list(_todos(given))[:MOST_TASKS]


def created(tasks: list[Task], given: Any, words: str) -> list[Task]:
    """With the task that TaskCreate says it made."""
    made = _CREATED.search(whole(words))
    text = text_of(given, "subject") or text_of(given, "description")
    if made is None or not text or len(tasks) >= MOST_TASKS:
        return tasks
    doing = text_of(given, "activeForm") or None
    task = Task(made[1], short(text), "pending", text_of(given, "owner") or None, doing)
    return [*_without(tasks, made[1]), task]


def updated(tasks: list[Task], given: Any) -> list[Task]:
    """As TaskUpdate wants it."""
    task_id = text_of(given, "taskId")
    state = text_of(given, "status")
    if state == "deleted":
        return _without(tasks, task_id)
    for task in tasks:
        if task.id == task_id:
            task.text = short(text_of(given, "subject")) or task.text
            task.group = text_of(given, "owner") or task.group
            task.doing = text_of(given, "activeForm") or task.doing
            task.state = _state(state) or task.state
    return tasks


def listed(tasks: list[Task], words: str) -> list[Task]:
    """What TaskList says counts: others may have worked on it."""
    known = {task.id: task for task in tasks}
    more: list[Task] = []
    for task_id, state, text in _LISTED.findall(whole(words))[:MOST_TASKS]:
        if task_id in known:
            known[task_id].state = state
        elif len(tasks) + len(more) < MOST_TASKS:
            more.append(Task(task_id, short(text), state))
    return [*tasks, *more]


def tasks_done(tasks: Iterable[Task]) -> int:
    return sum(task.state == "completed" for task in tasks)


def _without(tasks: list[Task], task_id: str) -> list[Task]:
    return [task for task in tasks if task.id != task_id]


def _todos(given: Any) -> Iterator[Task]:
    items = given.get("todos") if isinstance(given, dict) else None
    for number, item in enumerate(items if isinstance(items, list) else [], start=1):
        text = text_of(item, "content") or text_of(item, "subject")
        if text:
            yield Task(
                text_of(item, "id") or str(number),
                short(text),
                _state(text_of(item, "status")) or "pending",
                None,
                short(text_of(item, "activeForm")) or None,
            )


def _state(text: str) -> TaskState | None:
    match text:
        case "pending" | "in_progress" | "completed":
            return text
        case "cancelled" | "done":
            return "completed"
        case _:
            return None
