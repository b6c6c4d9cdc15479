"""Where a session stands: what to do next, how far it is, what to know before going on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import msgspec

from claudekeeper.model.closing import Closing, LastTurn, Question
from claudekeeper.model.decisions import Decision
from claudekeeper.model.facts import Facts, Share, share_of
from claudekeeper.model.prose import prose
from claudekeeper.model.readiness import Coverage, percent, spoken
from claudekeeper.model.tasklist import Task, tasks_done

# `answer`: Claude asks; `reply`: the person got none; `continue`, `start`: a task; `working`: a
# turn runs now
NextKind = Literal["working", "answer", "reply", "continue", "start", "done"]
WarningCode = Literal["idle_long", "directory_gone", "branch_moved"]

Outcome = Literal["complete", "givenUp"]

GO_ON = "Continue where you left off."
WRITE_IT = "Write the specification, as every category of the checklist is covered"
WRITE_IT_PROMPT = (
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


class Part(msgspec.Struct, rename="camel"):
    """A group of tasks."""

    name: str
    items: int
    done: int
    percent: int


class Item(msgspec.Struct, rename="camel"):
    """A task of the session's own list."""

    text: str
    state: Literal["pending", "in_progress", "completed"]
    group: str | None = None


class TaskProgress(msgspec.Struct, rename="camel"):
    """How far the session's own task lists are."""

    items: int
    done: int
    percent: int
    groups: list[Part]
    tasks: list[Item]


class ChangedFile(msgspec.Struct, rename="camel"):
    path: str
    edits: int


class Work(msgspec.Struct, rename="camel"):
    """What was done in the session."""

    prompts: int
    files: list[ChangedFile]
    files_changed: int
    commands: int
    commands_failed: int
    last_commands: list[str]
    tools: int
    compactions: int


class Cost(msgspec.Struct, rename="camel"):
    """What it cost, and what the first message would: nothing of it is in the cache any more."""

    spent_usd: float | None
    context_tokens: int | None
    resume_tokens: int | None
    resume_usd: float | None


class Caution(msgspec.Struct, rename="camel"):
    """What to know before going on."""

    code: WarningCode
    message: str


class Recap(msgspec.Struct, rename="camel"):
    """The same in words: a few sentences, and everything."""

    quick: str
    detailed: str


class Resume(msgspec.Struct, rename="camel"):
    """Where a session stands. `complete`: whether every line of it has been read by now."""

    session_id: str
    last: str | None
    idle_seconds: int
    turns: list[LastTurn]
    question: Question | None
    next: NextAction
    progress: TaskProgress | None
    coverage: Coverage | None
    decisions: list[Decision]
    work: Work | None
    cost: Cost
    warnings: list[Caution]
    # what can be done: `resume`, and `fresh` where there is a reason to begin anew
    choices: list[Literal["resume", "fresh"]]
    complete: bool
    recap: Recap
    # `complete`: nothing is left to be done of what the session or its project listed; `givenUp`:
    # the person said so, and nothing was said since
    outcome: Outcome | None = None
    # the specification's file, below the working directory, if it is written
    specification: str | None = None


def next_action(
    closing: Closing,
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
    if closing.standing in ("asked", "cut", "interrupted", "failed"):
        return _unanswered(closing, last)
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
    if closing.standing == "nothing":
        return NextAction("done", "Nothing was said yet.")
    return NextAction("done", "Nothing is open: your last message was answered.")


def _checklist_action(
    coverage: Coverage, tasks: Sequence[Task], specification: str | None
) -> NextAction:
    topic = coverage.next
    if topic is not None:
        text = f"{spoken(topic.category)}: {topic.item}"
        return NextAction("continue" if topic.begun else "start", text, topic.prompt)
    if specification is None:
        return NextAction("start", WRITE_IT, WRITE_IT_PROMPT)
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


def _unanswered(closing: Closing, last: LastTurn | None) -> NextAction:
    uuid = last.uuid if last is not None else None
    if closing.refused == "ExitPlanMode":
        return NextAction("reply", "You rejected the plan and did not say how to go on.", uuid=uuid)
    if closing.answered is not None and closing.standing == "cut":
        words = f"Your answer got no reply: “{prose(closing.answered, 160)}”."
        return NextAction("reply", words, GO_ON, uuid)
    prompt = last.prompt if last is not None and last.prompt else None
    said = f"“{prose(prompt, 160, says_what_is_left_out=True)}”" if prompt else None
    match closing.standing:
        case "asked":
            words = f"Your last message got no reply{f': {said}' if said else ''}."
            return NextAction("reply", words, prompt, uuid)
        case "failed":
            reason = f" ({prose(closing.error, 120)})" if closing.error else ""
            words = f"Your last message failed{reason}{f': {said}' if said else ''}."
            begun = last is not None and (last.tools or last.reply)
            return NextAction("reply", words, GO_ON if begun else prompt or GO_ON, uuid)
        case "interrupted":
            words = f"You interrupted the reply{f' to {said}' if said else ''}."
            return NextAction("reply", words, GO_ON, uuid)
        case _:
            words = f"The reply{f' to {said}' if said else ''} broke off."
            return NextAction("reply", words, GO_ON, uuid)


def progress_of(tasks: Sequence[Task]) -> TaskProgress | None:
    """None where the session keeps no list."""
    if not tasks:
        return None
    names = _groups(tasks)
    groups: dict[str, list[Task]] = {}
    for task, name in zip(tasks, names, strict=True):
        groups.setdefault(name, []).append(task)
    done = tasks_done(tasks)
    return TaskProgress(
        items=len(tasks),
        done=done,
        percent=percent(done, len(tasks)),
        groups=[
            Part(
                name, len(members), tasks_done(members), percent(tasks_done(members), len(members))
            )
            for name, members in groups.items()
        ],
        tasks=[
            Item(task.text, task.state, name if len(groups) > 1 else None)
            for task, name in zip(tasks, names, strict=True)
        ],
    )


def _groups(tasks: Sequence[Task]) -> list[str]:
    """Whose a task is, or what it is headed by where others are too ("Phase 1: …")."""
    heads = [task.text.partition(":")[0].strip() if ": " in task.text else "" for task in tasks]
    return [
        task.group or (head if head and len(head) <= 40 and heads.count(head) > 1 else "Tasks")
        for task, head in zip(tasks, heads, strict=True)
    ]


def work_of(facts: Facts, beside: Sequence[Share] = (), most_files: int = 50) -> Work:
    """What was done, by subagents too; the commands that are named are the session's own."""
    everybody = (share_of(facts), *beside)
    edits: Counter[str] = Counter()
    for each in everybody:
        edits.update(each.files)
    files = sorted(edits.items(), key=lambda each: (-each[1], each[0]))
    return Work(
        prompts=facts.prompts,
        files=[ChangedFile(path, number) for path, number in files[:most_files]],
        files_changed=len(files) + sum(each.more_files for each in everybody),
        commands=sum(each.commands for each in everybody),
        commands_failed=sum(each.failed_commands for each in everybody),
        last_commands=facts.last_commands,
        tools=sum(each.tools for each in everybody),
        compactions=facts.compactions,
    )


def tasks_of(facts: Facts) -> list[Task]:
    """Both kinds of lists; what is there twice counts once."""
    known = {task.text for task in facts.tasks}
    return [*facts.tasks, *(todo for todo in facts.todos if todo.text not in known)]
