"""A session in words, made from what is known of it: exact, at once, and free."""

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
    ResumeWarning,
    TaskProgress,
    WorkCost,
    WorkDone,
)

MOST_LISTED = 10
CENT = 0.01
# what ends a sentence, also within quotation marks
_SENTENCE_ENDS = (".", "!", "?", "…", "。", "？", "！")


def render_recap(
    *,
    title: str | None,
    idle_seconds: int,
    turns: list[LastTurn],
    next_action: NextAction,
    progress: TaskProgress | None,
    decisions: list[Decision],
    work: WorkDone | None,
    cost: WorkCost,
    warnings: list[ResumeWarning],
    workdir: str | None,
    coverage: Coverage | None = None,
    given_up: bool = False,
) -> RecapText:
    ended = "You gave this session up." if given_up else ""
    quick = [
        # what got no reply is told with what to do next
        _touched_sentence(title, idle_seconds, [] if next_action.kind == "reply" else turns),
        ended,
        _progress_sentence(progress)
        if progress is not None and progress.done < progress.items
        else "",
        _coverage_sentence(coverage, next_action),
        _next_sentence(next_action, coverage),
        _last_reply_sentence(turns) if next_action.kind == "done" else "",
        *(caution.message for caution in warnings),
    ]
    sections = [
        _section(
            "Where we were",
            [
                _touched_sentence(title, idle_seconds, turns),
                ended,
                *_turn_lines(turns, next_action),
            ],
        ),
        _section("Next", [_next_sentence(next_action, coverage)]),
        _section("Progress", _task_lines(progress)),
        _section("Checklist", _checklist_lines(coverage)),
        _section("Key decisions", [_decision_line(each) for each in decisions[-MOST_LISTED:]]),
        _section("Done", _work_lines(work, workdir)),
        _section("Before going on", [*(each.message for each in warnings), _cost_sentence(cost)]),
    ]
    return RecapText(
        _join_parts([part for part in quick if part]),
        "\n\n".join(section for section in sections if section),
    )


def _join_parts(parts: list[str]) -> str:
    """One after another; what is a list of its own stays one."""
    text = ""
    for part in parts:
        text += ("\n" if "\n" in text or "\n" in part else " ") + part if text else part
    return text


def _last_reply_sentence(turns: list[LastTurn]) -> str:
    """What came of it, where nothing is left to do: the beginning of the last reply says so."""
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
    """Percent, and the next topic where it is not what to do next in any case."""
    if coverage is None or not coverage.categories:
        return ""
    share = f"The checklist is {coverage.percent} % covered"
    topic = coverage.next
    if topic is None or topic.prompt == action.prompt:
        return f"{share}."
    return f"{share}; next topic: {display_name(topic.category)}."


def _checklist_lines(coverage: Coverage | None) -> list[str]:
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
    """What Claude did with these words: not all that waits for an answer is a question."""
    if question_phrases().offer.search(text):
        return "Claude offered"
    return "Claude asked" if re.search("[?？؟]", text) else "Claude waits for you"


def _turn_lines(turns: list[LastTurn], action: NextAction) -> list[str]:
    last = turns[-1] if turns and action.kind == "working" else None
    return [_turn_line(turn, under_way=turn is last) for turn in turns]


def _turn_line(turn: LastTurn, *, under_way: bool) -> str:
    asked = _short_prompt(turn.prompt, 200) or "(asked further back)"
    tools = _call_count(turn)
    reply = prose(turn.reply, 300, with_placeholders=True)
    if not reply and turn.whole:
        reply = "(no words yet)" if under_way else "(no words)"
    return f"- You: {asked}{tools}" + (f"\n  Claude: {reply}" if reply else "")


def _call_count(turn: LastTurn) -> str:
    """How many there were; of a turn that was not read whole, at least so many."""
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
    still = [task for task in progress.tasks if task.state != "completed"]
    groups = [f"{each.name}: {each.done} of {each.items}" for each in progress.groups]
    return [
        _progress_sentence(progress),
        *([", ".join(groups)] if len(groups) > 1 else []),
        *(f"- [{mark[task.state]}] {task.text}" for task in still[:MOST_LISTED]),
        *([f"- and {len(still) - MOST_LISTED} more"] if len(still) > MOST_LISTED else []),
    ]


def _decision_line(made: Decision) -> str:
    reason = f" — {prose(made.reason, 200)}" if made.reason else ""
    return f"- {prose(made.about, 160)}: {prose(made.decision, 160)}{reason}"


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
        for file in work.files[:MOST_LISTED]
    ]
    return [", ".join(counts) + ".", *files]


def _relative_path(path: str, workdir: str | None) -> str:
    base = (workdir or "").rstrip("/\\")
    below = base and path.startswith((base + "/", base + "\\"))
    return path[len(base) + 1 :] if below else os.path.normpath(path)


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
