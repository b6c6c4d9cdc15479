"""The recap of a session, rendered from its facts: exact, at once, and free."""

from __future__ import annotations

import os
import re

from claudekeeper.analysis.decisions import Decision
from claudekeeper.analysis.last_turns import LastTurn
from claudekeeper.analysis.prose import prose, strip_markdown
from claudekeeper.analysis.question_phrases import question_phrases
from claudekeeper.coverage.readiness import CategoryCoverage, Coverage, display_name
from claudekeeper.resume.types import (
    WRITE_SPECIFICATION_PROMPT,
    NextAction,
    RecapText,
    ResumeReport,
    TaskProgress,
    WorkCost,
    WorkDone,
)

MAX_LISTED = 10
CENT = 0.01
# also within quotation marks
_SENTENCE_ENDS = (".", "!", "?", "…", "。", "？", "！")


def render_recap(
    report: ResumeReport, *, title: str | None, workdir: str | None, is_given_up: bool
) -> RecapText:
    turns, action, coverage = report.turns, report.next, report.coverage
    progress, warnings = report.progress, [warning.message for warning in report.warnings]
    has_open_tasks = progress is not None and progress.done < progress.items
    ended = "You gave this session up." if is_given_up else ""
    quick = [
        # a prompt without a reply is part of the next action
        _touched_sentence(title, report.idle_seconds, [] if action.kind == "reply" else turns),
        ended,
        _progress_sentence(progress) if has_open_tasks else "",
        _coverage_sentence(coverage, action),
        _next_sentence(action, coverage),
        _last_reply_sentence(turns) if action.kind == "done" else "",
        *warnings,
    ]
    touched = _touched_sentence(title, report.idle_seconds, turns)
    decisions = [_decision_line(each) for each in report.decisions[-MAX_LISTED:]]
    sections = [
        _section("Where we were", [touched, ended, *_turn_lines(turns, action)]),
        _section("Next", [_next_sentence(action, coverage)]),
        _section("Progress", _task_lines(progress)),
        _section("Checklist", _checklist_lines(coverage)),
        _section("Key decisions", decisions),
        _section("Done", _work_lines(report.work, workdir)),
        _section("Before going on", [*warnings, _cost_sentence(report.cost)]),
    ]
    return RecapText(
        _join_parts([part for part in quick if part]),
        "\n\n".join(section for section in sections if section),
    )


def _join_parts(parts: list[str]) -> str:
    """The parts in one paragraph; a part of several lines is separated by a line break."""
    text = ""
    for part in parts:
        text += ("\n" if "\n" in text or "\n" in part else " ") + part if text else part
    return text


def _last_reply_sentence(turns: list[LastTurn]) -> str:
    """The beginning of the last reply: the result, if nothing is left to do."""
    reply = turns[-1].reply if turns else None
    words = prose(reply, 200)
    return f"Claude's last words: “{words}”" if words else ""


def ago(seconds: int) -> str:
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{_plural(seconds // size, name)} ago"
    return "just now"


def _touched_sentence(title: str | None, idle_seconds: int, turns: list[LastTurn]) -> str:
    last = next((turn.prompt for turn in reversed(turns) if turn.prompt), None)
    subject = f"“{subject}”, " if (subject := _short_prompt(title, 80)) else ""
    touched = f"{subject}last touched {ago(idle_seconds)}"
    touched = touched[0:1].upper() + touched[1:]
    words = _short_prompt(last, 140)
    if not words or _short_prompt(last, 80) == _short_prompt(title, 80):
        return f"{touched}."
    return f"{touched}: you last asked “{words}”{'' if words.endswith(_SENTENCE_ENDS) else '.'}"


def _progress_sentence(progress: TaskProgress | None) -> str:
    if progress is None:
        return ""
    return f"{progress.done} of {progress.items} tasks are done ({progress.percent} %)."


def _coverage_sentence(coverage: Coverage | None, action: NextAction) -> str:
    """The percentage, and the next topic, unless that is the next action anyway."""
    if coverage is None or not coverage.categories:
        return ""
    share = f"The checklist is {coverage.percent} % covered"
    topic = coverage.next
    if topic is None or topic.prompt == action.prompt:
        return f"{share}."
    return f"{share}; next topic: {display_name(topic.category)}."


def _checklist_lines(coverage: Coverage | None) -> list[str]:
    """The categories by status, and the suggested next topic."""
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
        *(
            f"- {title}: {', '.join(map(_category_share, group))}"
            for title, group in groups
            if group
        ),
        f"Suggested next topic: {display_name(topic.category)}: {topic.item}" if topic else "",
    ]


def _category_share(category: CategoryCoverage) -> str:
    return f"{display_name(category.name)} ({category.percent} %)"


def _next_sentence(action: NextAction, coverage: Coverage | None) -> str:
    topic = coverage.next if coverage is not None else None
    if topic is not None and action.prompt == topic.prompt:
        end = "" if topic.item.endswith(_SENTENCE_ENDS) else "."
        return f"Next topic: {display_name(topic.category)}, {topic.item}{end}"
    if action.prompt == WRITE_SPECIFICATION_PROMPT:
        return f"Next: {action.text[0].lower()}{action.text[1:]}."
    match action.kind:
        case "answer":
            return f"{_question_lead(action.text)}: {strip_markdown(action.text)}"
        case "continue":
            return f"Next: continue with “{action.text}”."
        case "start":
            return f"Next: start with “{action.text}”."
        case _:
            return action.text


def _question_lead(text: str) -> str:
    """What Claude did with a text that waits for an answer: not all of it is a question."""
    if question_phrases().offer.search(text):
        return "Claude offered"
    return "Claude asked" if re.search("[?？؟]", text) else "Claude waits for you"


def _turn_lines(turns: list[LastTurn], action: NextAction) -> list[str]:
    last = turns[-1] if turns and action.kind == "working" else None
    return [_turn_line(turn, is_running=turn is last) for turn in turns]


def _turn_line(turn: LastTurn, *, is_running: bool) -> str:
    prompt = _short_prompt(turn.prompt, 200) or "(asked further back)"
    calls = _call_count(turn)
    reply = prose(turn.reply, 300, with_placeholders=True)
    if not reply and turn.whole:
        reply = "(no words yet)" if is_running else "(no words)"
    return f"- You: {prompt}{calls}" + (f"\n  Claude: {reply}" if reply else "")


def _call_count(turn: LastTurn) -> str:
    """The number of tool calls; a minimum, if the turn was not read to its beginning."""
    if not turn.tools:
        return ""
    calls = _plural(turn.tools, "tool call")
    return f" ({calls})" if turn.whole else f" (at least {calls})"


def _plural(number: int, thing: str) -> str:
    return f"{number} {thing}{'s' if number != 1 else ''}"


def _short_prompt(prompt: str | None, most: int) -> str:
    return prose(prompt, most, with_placeholders=True)


def _task_lines(progress: TaskProgress | None) -> list[str]:
    if progress is None:
        return []
    mark = {"completed": "x", "in_progress": "~", "pending": " "}
    open_tasks = [task for task in progress.tasks if task.state != "completed"]
    groups = [f"{each.name}: {each.done} of {each.items}" for each in progress.groups]
    return [
        _progress_sentence(progress),
        *([", ".join(groups)] if len(groups) > 1 else []),
        *(f"- [{mark[task.state]}] {task.text}" for task in open_tasks[:MAX_LISTED]),
        *([f"- and {len(open_tasks) - MAX_LISTED} more"] if len(open_tasks) > MAX_LISTED else []),
    ]


def _decision_line(decision: Decision) -> str:
    reason = f" — {prose(decision.reason, 200)}" if decision.reason else ""
    return f"- {prose(decision.about, 160)}: {prose(decision.decision, 160)}{reason}"


def _work_lines(work: WorkDone | None, workdir: str | None) -> list[str]:
    if work is None:
        return []
    counts = [
        _plural(work.prompts, "prompt"),
        f"{_plural(work.files_changed, 'file')} changed",
        f"{_plural(work.commands, 'command')} run"
        + (f" ({work.commands_failed} failed)" if work.commands_failed else ""),
    ]
    files = [
        f"- {_relative_path(file.path, workdir)} ({file.edits}×)"
        for file in work.files[:MAX_LISTED]
    ]
    return [", ".join(counts) + ".", *files]


def _relative_path(path: str, workdir: str | None) -> str:
    base = (workdir or "").rstrip("/\\")
    is_inside = base and path.startswith((base + "/", base + "\\"))
    return path[len(base) + 1 :] if is_inside else os.path.normpath(path)


def _cost_sentence(cost: WorkCost) -> str:
    parts = []
    if cost.spent_usd:
        parts.append(f"It has cost {_dollars(cost.spent_usd)} so far.")
    if cost.resume_tokens:
        dollars = f", {_dollars(cost.resume_usd, 'about ')}" if cost.resume_usd else ""
        parts.append(f"The next message sends {cost.resume_tokens:,} tokens{dollars}.")
    return " ".join(parts)


def _dollars(amount: float, about: str = "") -> str:
    return f"{about}${amount:.2f}" if amount >= CENT else "less than $0.01"


def _section(title: str, lines: list[str]) -> str:
    lines = [line for line in lines if line]
    return "\n".join([f"## {title}", *lines]) if lines else ""
