"""A session in words, made from what is known of it: exact, at once, and free."""

from __future__ import annotations

import os
import re

from claudekeeper.model.closing import LastTurn
from claudekeeper.model.decisions import Decision
from claudekeeper.model.prose import prose, without_marks
from claudekeeper.model.readiness import Category, Coverage, spoken
from claudekeeper.model.resume import (
    WRITE_IT_PROMPT,
    Caution,
    Cost,
    NextAction,
    Recap,
    TaskProgress,
    Work,
)

MOST_LISTED = 10
CENT = 0.01
# what ends a sentence, also within quotation marks
_ENDS = (".", "!", "?", "…", "。", "？", "！")
# Claude would do it if the person wants it
_OFFERS = re.compile(
    r"\b(?:(?:want|like|prefer|need) me to|(?:happy|glad) to|let me know if|say the word"
    r"|möchte(?:st du|n Sie),? dass ich|veux-tu que je|voulez-vous que je|quieres que"
    r"|vuoi che|quer que eu|хо(?:чешь|тите),? чтобы я)\b|(?:需要|要)我|ましょうか",
    re.IGNORECASE,
)


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
        _section(
            "Where we were",
            [_about(title, idle_seconds, turns), ended, *_turns(turns, next_action)],
        ),
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
    words = prose(reply, 200)
    return f"Claude's last words: “{words}”" if words else ""


def ago(seconds: int) -> str:
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{_counted(seconds // size, name)} ago"
    return "just now"


def _about(title: str | None, idle_seconds: int, turns: list[LastTurn]) -> str:
    last = next((turn.prompt for turn in reversed(turns) if turn.prompt), None)
    subject = f"“{subject}”, " if (subject := _asked(title, 80)) else ""
    touched = f"{subject}last touched {ago(idle_seconds)}"
    touched = touched[0:1].upper() + touched[1:]
    words = _asked(last, 140)
    if not words or _asked(last, 80) == _asked(title, 80):
        return f"{touched}."
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
            return f"{_wanted(action.text)}: {without_marks(action.text)}"
        case "continue":
            return f"Next: continue with “{action.text}”."
        case "start":
            return f"Next: start with “{action.text}”."
        case _:
            return action.text


def _wanted(text: str) -> str:
    """What Claude did with these words: not all that waits for an answer is a question."""
    if _OFFERS.search(text):
        return "Claude offered"
    return "Claude asked" if re.search("[?？؟]", text) else "Claude waits for you"


def _turns(turns: list[LastTurn], action: NextAction) -> list[str]:
    last = turns[-1] if turns and action.kind == "working" else None
    return [_turn(turn, under_way=turn is last) for turn in turns]


def _turn(turn: LastTurn, *, under_way: bool) -> str:
    asked = _asked(turn.prompt, 200) or "(asked further back)"
    tools = _calls(turn)
    reply = prose(turn.reply, 300, says_what_is_left_out=True)
    if not reply and turn.whole:
        reply = "(no words yet)" if under_way else "(no words)"
    return f"- You: {asked}{tools}" + (f"\n  Claude: {reply}" if reply else "")


def _calls(turn: LastTurn) -> str:
    """How many there were; of a turn that was not read whole, at least so many."""
    if not turn.tools:
        return ""
    calls = _counted(turn.tools, "tool call")
    return f" ({calls})" if turn.whole else f" (at least {calls})"


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'s' if number != 1 else ''}"


def _asked(prompt: str | None, most: int) -> str:
    return prose(prompt, most, says_what_is_left_out=True)


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
    reason = f" — {prose(made.reason, 200)}" if made.reason else ""
    return f"- {prose(made.about, 160)}: {prose(made.decision, 160)}{reason}"


def _work(work: Work | None, workdir: str | None) -> list[str]:
    if work is None:
        return []
    counts = [
        _counted(work.prompts, "prompt"),
        f"{_counted(work.files_changed, 'file')} changed",
        f"{_counted(work.commands, 'command')} run"
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
