"""The steps of a scripted model, and helpers for frequent tool calls."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

TaskStatus: TypeAlias = Literal["pending", "in_progress", "completed"]


class Say(msgspec.Struct, frozen=True):
    """Text, spread over `seconds`, in deltas of `chunk` characters."""

    text: str
    seconds: float = 0.0
    chunk: int = 0


class Think(msgspec.Struct, frozen=True):
    text: str


class Call(msgspec.Struct, frozen=True):
    """A tool call."""

    tool: str
    input: dict[str, Any]


class Todo(msgspec.Struct, frozen=True):
    """The whole task list; the tool that sets it depends on what the CLI offers."""

    items: tuple[tuple[str, TaskStatus], ...]


class Fail(msgspec.Struct, frozen=True):
    """A failure of the API: a status, or a broken stream; it happens `times` times."""

    how: int | Literal["drop", "stream"]
    times: int | None = None


Step: TypeAlias = Say | Think | Call | Todo | Fail
Reply: TypeAlias = tuple[Step, ...]
Script: TypeAlias = tuple[Reply, ...]


def group_replies(groups: list[list[Step]]) -> Script:
    """Groups steps into replies: a reply ends with its tool calls."""
    script: list[Reply] = []
    current: list[Step] = []
    for group in groups:
        if any(isinstance(step, Call | Todo) for step in current):
            script.append(tuple(current))
            current = []
        current += group
    if current:
        script.append(tuple(current))
    return tuple(script)


def make_script(*groups: Step | list[Step]) -> Script:
    """A script written in Python; a list is the steps of one reply."""
    return group_replies([list(group) if isinstance(group, list) else [group] for group in groups])


def run(command: str, description: str = "") -> Call:
    return Call("Bash", {"command": command, "description": description or f"Run {command[:40]}"})


def run_in_background(command: str) -> Call:
    call = run(command, f"Start {command[:40]}")
    return Call("Bash", {**call.input, "run_in_background": True})


def write(path: str, content: str) -> Call:
    return Call("Write", {"file_path": path, "content": content})


def edit(path: str, old: str, new: str) -> Call:
    return Call("Edit", {"file_path": path, "old_string": old, "new_string": new})


def read(path: str) -> Call:
    return Call("Read", {"file_path": path})


def ask(question: str, *options: str, header: str = "", many: bool = False) -> Call:
    """A question to the person; an option is `label` or `label - what it means`."""
    choices = []
    for option in options:
        label, _, description = option.partition(" - ")
        choices.append(
            {"label": label.strip(), "description": description.strip() or label.strip()}
        )
    return Call(
        "AskUserQuestion",
        {
            "questions": [
                {
                    "question": question,
                    "header": header or "Choice",
                    "multiSelect": many,
                    "options": choices,
                }
            ]
        },
    )


def plan(text: str) -> Call:
    return Call("ExitPlanMode", {"plan": text})


def agent(
    prompt: str, description: str = "", kind: str = "general-purpose", *, background: bool = False
) -> Call:
    """A subagent, in the foreground unless `background`, which is the CLI's default."""
    return Call(
        "Agent",
        {
            "description": description or " ".join(prompt.split()[:5]),
            "prompt": prompt,
            "subagent_type": kind,
            "run_in_background": background,
        },
    )


def todo(*items: str) -> Todo:
    """A task list: `[x] done`, `[>] being done`, `to do`."""
    return Todo(tuple(parse_todo_item(item) for item in items))


def parse_todo_item(item: str) -> tuple[str, TaskStatus]:
    marks: dict[str, TaskStatus] = {"[x]": "completed", "[>]": "in_progress", "[ ]": "pending"}
    mark = marks.get(item[:3].lower())
    return (item[3:].strip(), mark) if mark else (item.strip(), "pending")
