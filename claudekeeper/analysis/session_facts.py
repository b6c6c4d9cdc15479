"""The facts of a session, folded line by line: tasks, decisions, edited files, commands.

The fold takes one conversation; a subagent's is another. A call counts when its result says that it
succeeded.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator

import msgspec
from msgspec import Raw

from claudekeeper.analysis.activity import Activity, ActivityFold
from claudekeeper.analysis.decisions import (
    Decision,
    DecisionKind,
    answers_in,
    describe_call,
    is_refusal,
    plan_title,
    question_text,
    questions_in,
    refusal_reason,
)
from claudekeeper.analysis.reply_usage import MAX_TOKENS, ReplyUsage
from claudekeeper.analysis.task_lists import (
    Task,
    add_created_task,
    apply_task_list,
    apply_task_update,
    todos_of,
)
from claudekeeper.transcripts.entries import (
    DECODE_ERRORS,
    EMPTY_RAW,
    Entry,
    EntryMessage,
    loads,
    starts_with,
    usage_of,
)
from claudekeeper.transcripts.untyped import content_text, raw_text_field, shorten

EDIT_TOOLS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
SHELL_TOOLS = frozenset({"Bash", "PowerShell"})

# a session can be very long: limits of what is kept, the newest first
MAX_DECISIONS = 200
MAX_FILES = 2_000
MAX_TOOLS = 200
# all tools beyond the limit together
OTHER_TOOLS = ""
MAX_COMMANDS = 10
MAX_PENDING = 64
MAX_INPUT_BYTES = 64 * 1024

_TOOL_USE = b'"tool_use"'
_NO_SUCCESS = re.compile(r'"success":\s*false')

# a call that has no result yet: its tool, and its input as JSON; of an edit only the path
PendingCall = tuple[str, bytes]


class SessionFacts(msgspec.Struct, array_like=True, gc=False):
    """The facts of a session whose every line was read."""

    todos: list[Task] = []
    tasks: list[Task] = []
    decisions: list[Decision] = []
    # the number of edits by file, and the number of files beyond the limit
    edits_by_file: dict[str, int] = {}
    more_files: int = 0
    commands: int = 0
    failed_commands: int = 0
    last_commands: list[str] = []
    tool_counts: dict[str, int] = {}
    # number of prompts
    prompts: int = 0
    compactions: int = 0
    # tokens of the last request and its reply
    context_tokens: int = 0
    # when something was last said or done
    last_at: str | None = None
    pending_calls: dict[str, PendingCall] = {}
    # the last calls that have one: a transcript may repeat its lines
    finished_calls: dict[str, bool] = {}


class SubagentShare(msgspec.Struct, array_like=True, gc=False):
    """The part of a subagent's facts that counts for its session; there may be thousands."""

    edits_by_file: dict[str, int] = {}
    more_files: int = 0
    commands: int = 0
    failed_commands: int = 0
    tool_calls: int = 0


def share_of(facts: SessionFacts) -> SubagentShare:
    return SubagentShare(
        facts.edits_by_file,
        facts.more_files,
        facts.commands,
        facts.failed_commands,
        sum(facts.tool_counts.values()),
    )


class _Call(msgspec.Struct, gc=False):
    type: str = ""
    id: str = ""
    name: str = ""
    input: Raw = EMPTY_RAW


class _Edit(msgspec.Struct, gc=False):
    file_path: str | None = None
    notebook_path: str | None = None


class CallResult(msgspec.Struct, gc=False):
    """The result of a call."""

    type: str = ""
    tool_use_id: str = ""
    is_error: bool | None = None
    content: Raw = EMPTY_RAW


_calls_decoder = msgspec.json.Decoder(list[_Call])
_edit_decoder = msgspec.json.Decoder(_Edit)
_results_decoder = msgspec.json.Decoder(list[CallResult])


class FactFold:
    """Folds lines into facts."""

    def __init__(self, facts: SessionFacts, activity: ActivityFold | None = None) -> None:
        self.facts = facts
        # the times of the same prompts, calls and edits
        self._activity = activity or ActivityFold(Activity(), [], ReplyUsage())
        # only the last of these count: they are decoded at the end
        self._last_usage = b""
        self._last_commands: deque[bytes] = deque(maxlen=MAX_COMMANDS)

    def add(self, entry: Entry, *, prompt: str | None, is_copy: bool) -> None:
        """Fold the next entry. `prompt`: what a person asks in it; `is_copy`: of an older reply."""
        facts = self.facts
        if entry.type == "assistant":
            if not is_copy:
                self._add_calls(entry)
        elif entry.type == "user":
            if prompt is not None:
                self._add_prompt(prompt, entry)
            elif facts.pending_calls and starts_with(entry.message.content, b"["):
                self._add_results(entry)
        elif entry.type == "system" and entry.subtype == "compact_boundary":
            facts.compactions += 1
            # the next reply says how large the context is now
            facts.context_tokens, self._last_usage = 0, b""
            self._activity.add_compaction(entry)
        elif prompt is not None:
            self._add_prompt(prompt, entry)
        else:
            return
        facts.last_at = entry.timestamp or facts.last_at

    def _add_prompt(self, prompt: str, entry: Entry) -> None:
        self._activity.add_prompt(entry, prompt)
        self.facts.prompts += 1

    def add_usage(self, reply: EntryMessage) -> None:
        """Take the usage of a reply: the last one is the size of the context."""
        self._last_usage = bytes(reply.usage)

    def finish(self) -> None:
        """Decode the last usage and the last commands."""
        facts = self.facts
        commands = [shorten(raw_text_field(each, "command"), 200) for each in self._last_commands]
        facts.last_commands = [*facts.last_commands, *commands][-MAX_COMMANDS:]
        self._last_commands.clear()
        usage = usage_of(self._last_usage)
        self._last_usage = b""
        if usage is None:
            return
        context = (
            (usage.input_tokens or 0)
            + (usage.cache_read_input_tokens or 0)
            + (usage.cache_creation_input_tokens or 0)
        )
        if context > 0:
            facts.context_tokens = min(MAX_TOKENS, context + (usage.output_tokens or 0))

    # ---- calls ----

    def _add_calls(self, entry: Entry) -> None:
        content = bytes(entry.message.content)
        if _TOOL_USE not in content:
            return
        facts = self.facts
        count = 0
        for call in _decode_calls(content):
            if call.id in facts.finished_calls:
                continue
            count += 1
            has_room = call.name in facts.tool_counts or len(facts.tool_counts) < MAX_TOOLS
            name = call.name if has_room else OTHER_TOOLS
            facts.tool_counts[name] = facts.tool_counts.get(name, 0) + 1
            facts.pending_calls[call.id] = (call.name, _needed_input(call))
            if len(facts.pending_calls) > MAX_PENDING:
                del facts.pending_calls[next(iter(facts.pending_calls))]
        self._activity.add_calls(count)

    # ---- results ----

    def _add_results(self, entry: Entry) -> None:
        for result in results_in(entry.message.content):
            call = self.facts.pending_calls.pop(result.tool_use_id, None)
            if call is not None:
                self._apply_result(call, result, entry)
                finished = self.facts.finished_calls
                finished[result.tool_use_id] = True
                if len(finished) > MAX_PENDING:
                    del finished[next(iter(finished))]

    def _apply_result(self, call: PendingCall, result: CallResult, entry: Entry) -> None:
        facts = self.facts
        tool, call_input = call
        failed = bool(result.is_error)
        words = content_text(result.content) if failed else ""
        if failed and (entry.denied_by is not None or is_refusal(words)):
            self._add_refusal(call, refusal_reason(words, entry.denied_by), entry)
            return
        if tool in SHELL_TOOLS:
            self._last_commands.append(call_input)
            facts.commands += 1
            facts.failed_commands += failed
        if failed:
            return
        match tool:
            case _ if tool in EDIT_TOOLS:
                self._add_edit(call_input.decode("utf-8", "replace"))
                self._activity.add_edit()
            case "TodoWrite":
                facts.todos = todos_of(loads(call_input))
            case "TaskCreate":
                facts.tasks = add_created_task(
                    facts.tasks, loads(call_input), content_text(result.content)
                )
            case "TaskUpdate":
                facts.tasks = apply_task_update(facts.tasks, loads(call_input))
            case "TeamDelete" if not _NO_SUCCESS.search(content_text(result.content)):
                # the list belongs to the team and is deleted with it, even with open tasks
                facts.tasks = []
            case "TaskList":
                facts.tasks = apply_task_list(facts.tasks, content_text(result.content))
            case "AskUserQuestion":
                for question, answer in answers_in(entry.tool_use_result, result.content):
                    self._add_decision("answer", question, answer, None, entry)
            case "ExitPlanMode":
                plan = raw_text_field(entry.tool_use_result, "plan")
                plan = plan or raw_text_field(call_input, "plan")
                self._add_decision("plan", plan_title(plan), "approved", None, entry)

    def _add_refusal(self, call: PendingCall, reason: str | None, entry: Entry) -> None:
        tool, call_input = call
        if tool == "ExitPlanMode":
            plan = raw_text_field(call_input, "plan")
            self._add_decision("plan", plan_title(plan), "rejected", reason or None, entry)
        elif reason and tool == "AskUserQuestion":
            # the words with which a card was dismissed are the answer
            question = " ".join(question_text(questions_in(loads(call_input))).split())
            self._add_decision("answer", question or "A question", reason, None, entry)
        elif reason:
            # the input of an edit is only its path
            path = call_input.decode("utf-8", "replace")
            subject = f"{tool} {path}" if tool in EDIT_TOOLS else describe_call(tool, call_input)
            self._add_decision("denial", subject, "denied", reason, entry)

    def _add_decision(
        self, kind: DecisionKind, about: str, decision: str, reason: str | None, entry: Entry
    ) -> None:
        made = Decision(
            kind,
            shorten(about),
            shorten(decision),
            shorten(reason) if reason else None,
            entry.uuid,
            entry.timestamp,
        )
        self.facts.decisions.append(made)
        del self.facts.decisions[:-MAX_DECISIONS]

    def _add_edit(self, path: str) -> None:
        files = self.facts.edits_by_file
        if path in files or len(files) < MAX_FILES:
            files[path] = files.get(path, 0) + 1
        elif path:
            self.facts.more_files += 1


def _needed_input(call: _Call) -> bytes:
    """The part of a call's input that its result will need."""
    if call.name in EDIT_TOOLS:
        try:
            edit = _edit_decoder.decode(call.input)
        except DECODE_ERRORS:
            return b""
        return (edit.file_path or edit.notebook_path or "").encode("utf-8", "replace")
    call_input = bytes(call.input)
    return call_input if len(call_input) <= MAX_INPUT_BYTES else b""


def _decode_calls(content: bytes) -> Iterator[_Call]:
    try:
        calls = _calls_decoder.decode(content)
    except DECODE_ERRORS:
        return
    for call in calls:
        if call.type == "tool_use" and call.id:
            yield call


def results_in(content: Raw) -> list[CallResult]:
    """The results in the content of a user entry."""
    try:
        return _results_decoder.decode(content)
    except DECODE_ERRORS:
        return []


def tasks_of(facts: SessionFacts) -> list[Task]:
    """The tasks of both kinds of lists; one that is in both counts once."""
    texts = {task.text for task in facts.tasks}
    return [*facts.tasks, *(todo for todo in facts.todos if todo.text not in texts)]
