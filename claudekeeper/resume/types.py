"""The resume report of a session: the next action, the progress, the work, the warnings."""

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

# `answer`: Claude asks; `reply`: the last prompt has none; `continue`, `start`: a task;
# `working`: a turn is running
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
    """The next action, and the prompt that would begin it."""

    kind: NextKind
    text: str
    # null if the person has to word it
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
    """The progress of the session's own task lists."""

    items: int
    done: int
    percent: int
    groups: list[ProgressPart]
    tasks: list[ProgressItem]


class ChangedFile(msgspec.Struct, rename="camel"):
    """A file that the session edited."""

    path: str
    edits: int


class WorkDone(msgspec.Struct, rename="camel"):
    """The work of a session, in numbers."""

    prompts: int
    files: list[ChangedFile]
    files_changed: int
    commands: int
    commands_failed: int
    last_commands: list[str]
    tools: int
    compactions: int


class WorkCost(msgspec.Struct, rename="camel"):
    """The cost of a session, and of its next message: nothing of it is cached any more."""

    spent_usd: float | None
    context_tokens: int | None
    resume_tokens: int | None
    resume_usd: float | None


class ResumeWarning(msgspec.Struct, rename="camel"):
    """A reason to hesitate before the session is resumed."""

    code: WarningCode
    message: str


class RecapText(msgspec.Struct, rename="camel"):
    """The recap: in a few sentences, and in detail."""

    quick: str
    detailed: str


class ResumeReport(msgspec.Struct, rename="camel"):
    """The resume report. `complete`: every line of the transcript has been read."""

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
    # `fresh`: begin anew, if there are warnings
    choices: list[Literal["resume", "fresh"]]
    complete: bool
    recap: RecapText
    # `complete`: every task and category is done; `givenUp`: the person gave the session up, and
    # nothing was said since
    outcome: Outcome | None = None
    # the file of the specification, below the working directory, if it exists
    specification: str | None = None


def next_action(
    end: SessionEnd,
    tasks: Sequence[Task],
    *,
    working: bool,
    coverage: Coverage | None = None,
    specification: str | None = None,
) -> NextAction:
    """The next action: a question first, then a prompt without a reply, then the task list, and
    last the project's checklist."""
    question = end.question
    if question is not None:
        return NextAction("answer", question.text, uuid=question.uuid)
    if working:
        return NextAction("working", "Claude is at work on your last message.")
    last = end.turns[-1] if end.turns else None
    if end.kind in ("asked", "cut", "interrupted", "failed"):
        return _unanswered_action(end, last)
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
    if end.kind == "nothing":
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
    subject = f"All {len(tasks)} tasks are done, and every" if tasks else "Every"
    words = f"{subject} category of the checklist is covered. The specification is {specification}."
    return NextAction("done", words)


def outcome_of(
    action: NextAction,
    tasks: Sequence[Task],
    coverage: Coverage | None,
    *,
    is_given_up: bool,
) -> Outcome | None:
    """Whether the work of a session is complete, or was given up; None: it goes on."""
    if is_given_up:
        return "givenUp"
    has_list = bool(tasks) or (coverage is not None and coverage.complete)
    return "complete" if action.kind == "done" and has_list else None


def _unanswered_action(end: SessionEnd, last: LastTurn | None) -> NextAction:
    uuid = last.uuid if last is not None else None
    if end.refused_tool == "ExitPlanMode":
        return NextAction("reply", "You rejected the plan and did not say how to go on.", uuid=uuid)
    if end.answer is not None and end.kind == "cut":
        words = f"Your answer got no reply: “{prose(end.answer, 160)}”."
        return NextAction("reply", words, CONTINUE_PROMPT, uuid)
    prompt = last.prompt if last is not None and last.prompt else None
    quoted = f"“{prose(prompt, 160, with_placeholders=True)}”" if prompt else None
    match end.kind:
        case "asked":
            words = f"Your last message got no reply{f': {quoted}' if quoted else ''}."
            return NextAction("reply", words, prompt, uuid)
        case "failed":
            reason = f" ({prose(end.error, 120)})" if end.error else ""
            words = f"Your last message failed{reason}{f': {quoted}' if quoted else ''}."
            has_begun = last is not None and (last.tools or last.reply)
            repeated = prompt if prompt and not has_begun else CONTINUE_PROMPT
            return NextAction("reply", words, repeated, uuid)
        case "interrupted":
            words = f"You interrupted the reply{f' to {quoted}' if quoted else ''}."
            return NextAction("reply", words, CONTINUE_PROMPT, uuid)
        case _:
            words = f"The reply{f' to {quoted}' if quoted else ''} broke off."
            return NextAction("reply", words, CONTINUE_PROMPT, uuid)


def progress_of(tasks: Sequence[Task]) -> TaskProgress | None:
    """The progress; None without a task list."""
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
    """The group of each task: its own, or a heading that it shares with others ("Phase 1: …")."""
    heads = [task.text.partition(":")[0].strip() if ": " in task.text else "" for task in tasks]
    return [
        task.group or (head if head and len(head) <= 40 and heads.count(head) > 1 else "Tasks")
        for task, head in zip(tasks, heads, strict=True)
    ]


def work_of(
    facts: SessionFacts, subagents: Sequence[SubagentShare] = (), max_files: int = 50
) -> WorkDone:
    """The work of a session and its subagents; the last commands are its own."""
    shares = (share_of(facts), *subagents)
    edits: Counter[str] = Counter()
    for share in shares:
        edits.update(share.edits_by_file)
    files = sorted(edits.items(), key=lambda each: (-each[1], each[0]))
    return WorkDone(
        prompts=facts.prompts,
        files=[ChangedFile(path, number) for path, number in files[:max_files]],
        files_changed=len(files) + sum(share.more_files for share in shares),
        commands=sum(share.commands for share in shares),
        commands_failed=sum(share.failed_commands for share in shares),
        last_commands=facts.last_commands,
        tools=sum(share.tool_calls for share in shares),
        compactions=facts.compactions,
    )
