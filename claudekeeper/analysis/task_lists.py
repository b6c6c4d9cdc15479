"""The task lists of a session, after a call of one of their tools."""

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
    # the text while it is in progress
    active_text: str | None = None


def todos_of(call_input: Any) -> list[Task]:
    """The list of a TodoWrite: each call has all of it."""
    return list(_parse_todos(call_input))[:MAX_TASKS]


def add_created_task(tasks: list[Task], call_input: Any, result: str) -> list[Task]:
    """The tasks with the one that a TaskCreate created."""
    created = _CREATED.search(replace_surrogates(result))
    text = text_field(call_input, "subject") or text_field(call_input, "description")
    if created is None or not text or len(tasks) >= MAX_TASKS:
        return tasks
    owner = text_field(call_input, "owner") or None
    active_text = text_field(call_input, "activeForm") or None
    task = Task(created[1], shorten(text), "pending", owner, active_text)
    return [*_remove_task(tasks, created[1]), task]


def apply_task_update(tasks: list[Task], call_input: Any) -> list[Task]:
    """The tasks after a TaskUpdate."""
    task_id = text_field(call_input, "taskId")
    state = text_field(call_input, "status")
    if state == "deleted":
        return _remove_task(tasks, task_id)
    for task in tasks:
        if task.id == task_id:
            task.text = shorten(text_field(call_input, "subject")) or task.text
            task.group = text_field(call_input, "owner") or task.group
            task.active_text = text_field(call_input, "activeForm") or task.active_text
            task.state = _parse_state(state) or task.state
    return tasks


def apply_task_list(tasks: list[Task], result: str) -> list[Task]:
    """The tasks after a TaskList; others may have worked on them."""
    by_id = {task.id: task for task in tasks}
    more: list[Task] = []
    for task_id, state, text in _LISTED.findall(replace_surrogates(result))[:MAX_TASKS]:
        if task_id in by_id:
            by_id[task_id].state = state
        elif len(tasks) + len(more) < MAX_TASKS:
            more.append(Task(task_id, shorten(text), state))
    return [*tasks, *more]


def count_done(tasks: Iterable[Task]) -> int:
    return sum(task.state == "completed" for task in tasks)


def _remove_task(tasks: list[Task], task_id: str) -> list[Task]:
    return [task for task in tasks if task.id != task_id]


def _parse_todos(call_input: Any) -> Iterator[Task]:
    items = call_input.get("todos") if isinstance(call_input, dict) else None
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
