"""Where a session stands: what to do next, how far it is, what to know before going on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import msgspec

from claudekeeper.analysis.decisions import Decision
from claudekeeper.analysis.last_turns import LastTurn, OpenQuestion, SessionEnd
from claudekeeper.analysis.prose import prose
from claudekeeper.analysis.session_facts import SessionFacts, SubagentShare, share_of
from claudekeeper.analysis.task_lists import Task, count_done
from claudekeeper.coverage.readiness import Coverage, display_name, percent

# `answer`: Claude asks; `reply`: the person got none; `continue`, `start`: a task; `working`: a
# turn runs now
NextKind = Literal["working", "answer", "reply", "continue", "start", "done"]
WarningCode = Literal["idle_long", "directory_gone", "branch_moved"]

Outcome = Literal["complete", "givenUp"]

CONTINUE_PROMPT = "Continue where you left off."
WRITE_SPECIFICATION = "Write the specification, as every category of the checklist is covered"
WRITE_SPECIFICATION_PROMPT = (
    "Every category of the checklist is covered. Write the specification from what we decided,"
    " into SPECIFICATION.md."
)


class NextAction(msgspec.Struct, rename="camel"):
    """What to do next, and the words with which it would begin."""

    kind: NextKind
    text: str
    # what to say to Claude; null where it is for the person to say
    prompt: str | None = None
    # the message that it is about
    uuid: str | None = None


class ProgressPart(msgspec.Struct, rename="camel"):
    """A group of tasks."""

    name: str
    items: int
    done: int
    percent: int


class ProgressItem(msgspec.Struct, rename="camel"):
    """A task of the session's own list."""

    text: str
    state: Literal["pending", "in_progress", "completed"]
    group: str | None = None


class TaskProgress(msgspec.Struct, rename="camel"):
    """How far the session's own task lists are."""

    items: int
    done: int
    percent: int
    groups: list[ProgressPart]
    tasks: list[ProgressItem]


class ChangedFile(msgspec.Struct, rename="camel"):
    path: str
    edits: int


class WorkDone(msgspec.Struct, rename="camel"):
    """What was done in the session."""

    prompts: int
    files: list[ChangedFile]
    files_changed: int
    commands: int
    commands_failed: int
    last_commands: list[str]
    tools: int
    compactions: int


class WorkCost(msgspec.Struct, rename="camel"):
    """What it cost, and what the first message would: nothing of it is in the cache any more."""

    spent_usd: float | None
    context_tokens: int | None
    resume_tokens: int | None
    resume_usd: float | None


class ResumeWarning(msgspec.Struct, rename="camel"):
    """What to know before going on."""

    code: WarningCode
    message: str


class RecapText(msgspec.Struct, rename="camel"):
    """The same in words: a few sentences, and everything."""

    quick: str
    detailed: str


class ResumeReport(msgspec.Struct, rename="camel"):
    """Where a session stands. `complete`: whether every line of it has been read by now."""

    session_id: str
    last: str | None
    idle_seconds: int
    turns: list[LastTurn]
    question: OpenQuestion | None
    next: NextAction
    progress: TaskProgress | None
    coverage: Coverage | None
    decisions: list[Decision]
    work: WorkDone | None
    cost: WorkCost
    warnings: list[ResumeWarning]
    # what can be done: `resume`, and `fresh` where there is a reason to begin anew
    choices: list[Literal["resume", "fresh"]]
    complete: bool
    recap: RecapText
    # `complete`: nothing is left to be done of what the session or its project listed; `givenUp`:
    # the person said so, and nothing was said since
    outcome: Outcome | None = None
    # the specification's file, below the working directory, if it is written
    specification: str | None = None


def next_action(
    closing: SessionEnd,
    tasks: Sequence[Task],
    *,
    working: bool,
    coverage: Coverage | None = None,
    specification: str | None = None,
) -> NextAction:
    """The one thing to do: a question first, then what got no reply, then the task list, then
    the project's checklist."""
    question = closing.question
    if question is not None:
        return NextAction("answer", question.text, uuid=question.uuid)
    if working:
        return NextAction("working", "Claude is at work on your last message.")
    last = closing.turns[-1] if closing.turns else None
    if closing.kind in ("asked", "cut", "interrupted", "failed"):
        return _unanswered_action(closing, last)
    current = next((task for task in tasks if task.state == "in_progress"), None)
    if current is not None:
        return NextAction("continue", current.text, f"Continue with: {current.text}")
    waiting = next((task for task in tasks if task.state == "pending"), None)
    if waiting is not None:
        return NextAction("start", waiting.text, f"Start with: {waiting.text}")
    if coverage is not None and coverage.categories:
        return _checklist_action(coverage, tasks, specification)
    if tasks:
        return NextAction("done", f"All {len(tasks)} tasks are done.")
    if closing.kind == "nothing":
        return NextAction("done", "Nothing was said yet.")
    return NextAction("done", "Nothing is open: your last message was answered.")


def _checklist_action(
    coverage: Coverage, tasks: Sequence[Task], specification: str | None
) -> NextAction:
    topic = coverage.next
    if topic is not None:
        text = f"{display_name(topic.category)}: {topic.item}"
        return NextAction("continue" if topic.begun else "start", text, topic.prompt)
    if specification is None:
        return NextAction("start", WRITE_SPECIFICATION, WRITE_SPECIFICATION_PROMPT)
    listed = f"All {len(tasks)} tasks are done, and every" if tasks else "Every"
    words = f"{listed} category of the checklist is covered. The specification is {specification}."
    return NextAction("done", words)


def outcome_of(
    action: NextAction,
    tasks: Sequence[Task],
    coverage: Coverage | None,
    *,
    given_up: bool,
) -> Outcome | None:
    """Whether the work of a session is complete, or was given up; None: it goes on."""
    if given_up:
        return "givenUp"
    listed = bool(tasks) or (coverage is not None and coverage.complete)
    return "complete" if action.kind == "done" and listed else None


def _unanswered_action(closing: SessionEnd, last: LastTurn | None) -> NextAction:
    uuid = last.uuid if last is not None else None
    if closing.refused_tool == "ExitPlanMode":
        return NextAction("reply", "You rejected the plan and did not say how to go on.", uuid=uuid)
    if closing.answer is not None and closing.kind == "cut":
        words = f"Your answer got no reply: “{prose(closing.answer, 160)}”."
        return NextAction("reply", words, CONTINUE_PROMPT, uuid)
    prompt = last.prompt if last is not None and last.prompt else None
    said = f"“{prose(prompt, 160, with_placeholders=True)}”" if prompt else None
    match closing.kind:
        case "asked":
            words = f"Your last message got no reply{f': {said}' if said else ''}."
            return NextAction("reply", words, prompt, uuid)
        case "failed":
            reason = f" ({prose(closing.error, 120)})" if closing.error else ""
            words = f"Your last message failed{reason}{f': {said}' if said else ''}."
            begun = last is not None and (last.tools or last.reply)
            return NextAction(
                "reply", words, CONTINUE_PROMPT if begun else prompt or CONTINUE_PROMPT, uuid
            )
        case "interrupted":
            words = f"You interrupted the reply{f' to {said}' if said else ''}."
            return NextAction("reply", words, CONTINUE_PROMPT, uuid)
        case _:
            words = f"The reply{f' to {said}' if said else ''} broke off."
            return NextAction("reply", words, CONTINUE_PROMPT, uuid)


def progress_of(tasks: Sequence[Task]) -> TaskProgress | None:
    """None where the session keeps no list."""
    if not tasks:
        return None
    names = _group_names(tasks)
    groups: dict[str, list[Task]] = {}
    for task, name in zip(tasks, names, strict=True):
        groups.setdefault(name, []).append(task)
    done = count_done(tasks)
    return TaskProgress(
        items=len(tasks),
        done=done,
        percent=percent(done, len(tasks)),
        groups=[
            ProgressPart(
                name, len(members), count_done(members), percent(count_done(members), len(members))
            )
            for name, members in groups.items()
        ],
        tasks=[
            ProgressItem(task.text, task.state, name if len(groups) > 1 else None)
            for task, name in zip(tasks, names, strict=True)
        ],
    )


def _group_names(tasks: Sequence[Task]) -> list[str]:
    """Whose a task is, or what it is headed by where others are too ("Phase 1: …")."""
    heads = [task.text.partition(":")[0].strip() if ": " in task.text else "" for task in tasks]
    return [
        task.group or (head if head and len(head) <= 40 and heads.count(head) > 1 else "Tasks")
        for task, head in zip(tasks, heads, strict=True)
    ]


def work_of(
    facts: SessionFacts, beside: Sequence[SubagentShare] = (), most_files: int = 50
) -> WorkDone:
    """What was done, by subagents too; the commands that are named are the session's own."""
    everybody = (share_of(facts), *beside)
    edits: Counter[str] = Counter()
    for each in everybody:
        edits.update(each.edits_by_file)
    files = sorted(edits.items(), key=lambda each: (-each[1], each[0]))
    return WorkDone(
        prompts=facts.prompts,
        files=[ChangedFile(path, number) for path, number in files[:most_files]],
        files_changed=len(files) + sum(each.more_files for each in everybody),
        commands=sum(each.commands for each in everybody),
        commands_failed=sum(each.failed_commands for each in everybody),
        last_commands=facts.last_commands,
        tools=sum(each.tool_calls for each in everybody),
        compactions=facts.compactions,
    )
