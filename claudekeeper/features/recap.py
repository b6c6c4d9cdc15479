"""A session in words, made from what is known of it: exact, at once, and free."""

from __future__ import annotations

import os
import re

from claudekeeper.model.closing import LastTurn
from claudekeeper.model.decisions import Decision
from claudekeeper.model.readiness import Category, Coverage, spoken
from claudekeeper.model.resume import (
    WRITE_IT_PROMPT,
    Caution,
    Cost,
    NextAction,
    Recap,
    TaskProgress,
    Work,
    one_line,
)

MOST_LISTED = 10
# what ends a sentence, also within quotation marks
_ENDS = (".", "!", "?", "…", "。", "？", "！")
# code is read where it stands: run together it says nothing
_CODE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)", re.MULTILINE | re.DOTALL)
# what is only there for the eye
_MARKUP = re.compile(r"^\s*(?:#{1,6}|>|[-*+])\s+|\*\*|`", re.MULTILINE)


def recap_of(
    *,
    title: str | None,
    idle_seconds: int,
    turns: list[LastTurn],
    next_action: NextAction,
    progress: TaskProgress | None,
    decisions: list[Decision],
    work: Work | None,
    cost: Cost,
    warnings: list[Caution],
    workdir: str | None,
    coverage: Coverage | None = None,
    given_up: bool = False,
) -> Recap:
    ended = "You gave this session up." if given_up else ""
    quick = [
        # what got no reply is told with what to do next
        _about(title, idle_seconds, [] if next_action.kind == "reply" else turns),
        ended,
        _how_far(progress) if progress is not None and progress.done < progress.items else "",
        _how_covered(coverage, next_action),
        _next(next_action, coverage),
        _last_words(turns) if next_action.kind == "done" else "",
        *(caution.message for caution in warnings),
    ]
    sections = [
        _section("Where we were", [_about(title, idle_seconds, turns), ended, *map(_turn, turns)]),
        _section("Next", [_next(next_action, coverage)]),
        _section("Progress", _tasks(progress)),
        _section("Checklist", _checklist(coverage)),
        _section("Key decisions", [_decision(each) for each in decisions[-MOST_LISTED:]]),
        _section("Done", _work(work, workdir)),
        _section("Before going on", [*(each.message for each in warnings), _cost(cost)]),
    ]
    return Recap(
        _run_together([part for part in quick if part]),
        "\n\n".join(section for section in sections if section),
    )


def _run_together(parts: list[str]) -> str:
    """One after another; what is a list of its own stays one."""
    text = ""
    for part in parts:
        text += ("\n" if "\n" in text or "\n" in part else " ") + part if text else part
    return text


def _last_words(turns: list[LastTurn]) -> str:
    """What came of it, where nothing is left to do: the beginning of the last reply says so."""
    reply = turns[-1].reply if turns else None
    words = one_line(_MARKUP.sub("", _CODE.sub("", reply)), 200) if reply else ""
    return f"Claude's last words: “{words}”" if words else ""


def ago(seconds: int) -> str:
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            number = seconds // size
            return f"{number} {name}{'s' if number != 1 else ''} ago"
    return "just now"


def _about(title: str | None, idle_seconds: int, turns: list[LastTurn]) -> str:
    last = next((turn.prompt for turn in reversed(turns) if turn.prompt), None)
    subject = f"“{one_line(title, 80)}”, " if title else ""
    touched = f"{subject}last touched {ago(idle_seconds)}"
    touched = touched[0:1].upper() + touched[1:]
    if not last or last == title:
        return f"{touched}."
    words = one_line(last, 140)
    return f"{touched}: you last asked “{words}”{'' if words.endswith(_ENDS) else '.'}"


def _how_far(progress: TaskProgress | None) -> str:
    if progress is None:
        return ""
    return f"{progress.done} of {progress.items} tasks are done ({progress.percent} %)."


def _how_covered(coverage: Coverage | None, action: NextAction) -> str:
    """Percent, and the next topic where it is not what to do next in any case."""
    if coverage is None or not coverage.categories:
        return ""
    share = f"The checklist is {coverage.percent} % covered"
    topic = coverage.next
    if topic is None or topic.prompt == action.prompt:
        return f"{share}."
    return f"{share}; next topic: {spoken(topic.category)}."


def _checklist(coverage: Coverage | None) -> list[str]:
    """The three groups, and the suggested next topic."""
    if coverage is None:
        return []
    if coverage.error is not None:
        return [f"{coverage.file} cannot be used: {coverage.error}"]
    groups = [
        (title, [each for each in coverage.categories if each.status == status])
        for title, status in (
            ("Complete", "complete"),
            ("In progress", "in_progress"),
            ("Not started", "not_started"),
        )
    ]
    topic = coverage.next
    share = f"{coverage.done} of {coverage.items} items are covered ({coverage.percent} %)"
    return [
        f"{share}; readiness {coverage.readiness} of 100.",
        *(f"- {title}: {', '.join(map(_share, group))}" for title, group in groups if group),
        f"Suggested next topic: {spoken(topic.category)}: {topic.item}" if topic else "",
    ]


def _share(category: Category) -> str:
    return f"{spoken(category.name)} ({category.percent} %)"


def _next(action: NextAction, coverage: Coverage | None) -> str:
    topic = coverage.next if coverage is not None else None
    if topic is not None and action.prompt == topic.prompt:
        end = "" if topic.item.endswith(_ENDS) else "."
        return f"Next topic: {spoken(topic.category)}, {topic.item}{end}"
    if action.prompt == WRITE_IT_PROMPT:
        return f"Next: {action.text[0].lower()}{action.text[1:]}."
    match action.kind:
        case "answer":
            return f"Claude asked: {action.text}"
        case "continue":
            return f"Next: continue with “{action.text}”."
        case "start":
            return f"Next: start with “{action.text}”."
        case _:
            return action.text


def _turn(turn: LastTurn) -> str:
    asked = one_line(turn.prompt, 200) or "(asked further back)"
    tools = f" ({turn.tools} tool calls)" if turn.tools else ""
    return f"- You: {asked}{tools}\n  Claude: {one_line(turn.reply, 300) or '(no words yet)'}"


def _tasks(progress: TaskProgress | None) -> list[str]:
    if progress is None:
        return []
    mark = {"completed": "x", "in_progress": "~", "pending": " "}
    still = [task for task in progress.tasks if task.state != "completed"]
    groups = [f"{each.name}: {each.done} of {each.items}" for each in progress.groups]
    return [
        _how_far(progress),
        *([", ".join(groups)] if len(groups) > 1 else []),
        *(f"- [{mark[task.state]}] {task.text}" for task in still[:MOST_LISTED]),
        *([f"- and {len(still) - MOST_LISTED} more"] if len(still) > MOST_LISTED else []),
    ]


def _decision(made: Decision) -> str:
    reason = f" — {one_line(made.reason, 200)}" if made.reason else ""
    return f"- {one_line(made.about, 160)}: {one_line(made.decision, 160)}{reason}"


def _work(work: Work | None, workdir: str | None) -> list[str]:
    if work is None:
        return []
    counts = [
        f"{work.prompts} prompts",
        f"{work.files_changed} files changed",
        f"{work.commands} commands run"
        + (f" ({work.commands_failed} failed)" if work.commands_failed else ""),
    ]
    files = [
        f"- {_relative(file.path, workdir)} ({file.edits}×)" for file in work.files[:MOST_LISTED]
    ]
    return [", ".join(counts) + ".", *files]


def _relative(path: str, workdir: str | None) -> str:
    base = (workdir or "").rstrip("/\\")
    below = base and path.startswith((base + "/", base + "\\"))
    return path[len(base) + 1 :] if below else os.path.normpath(path)


def _cost(cost: Cost) -> str:
    parts = []
    if cost.spent_usd:
        parts.append(f"It has cost ${cost.spent_usd:.2f} so far.")
    if cost.resume_tokens:
        dollars = f", about ${cost.resume_usd:.2f}" if cost.resume_usd else ""
        parts.append(f"The next message sends {cost.resume_tokens:,} tokens{dollars}.")
    return " ".join(parts)


def _section(title: str, lines: list[str]) -> str:
    lines = [line for line in lines if line]
    return "\n".join([f"## {title}", *lines]) if lines else ""
