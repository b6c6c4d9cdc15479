"""What was done and decided in a session, folded line by line: tasks, decisions, files, commands.

One conversation at a time: a subagent's is another. A call counts when its result says that it
was done.
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

# a session can be very long: of everything so much is kept, the newest first
MAX_DECISIONS = 200
MAX_FILES = 2_000
MAX_TOOLS = 200
# of the others it is only known how often they were called
OTHER_TOOLS = ""
MAX_COMMANDS = 10
MAX_PENDING = 64
MAX_INPUT_BYTES = 64 * 1024

_TOOL_USE = b'"tool_use"'
_NO_SUCCESS = re.compile(r'"success":\s*false')

# a call that has no result yet: its tool, and its input as JSON; of an edit only the path
PendingCall = tuple[str, bytes]


class SessionFacts(msgspec.Struct, array_like=True, gc=False):
    """What is known of a session when every line of it was read."""

    todos: list[Task] = []
    tasks: list[Task] = []
    decisions: list[Decision] = []
    # edits that were made, by file; and of how many files nothing is kept
    edits_by_file: dict[str, int] = {}
    more_files: int = 0
    commands: int = 0
    failed_commands: int = 0
    last_commands: list[str] = []
    tool_counts: dict[str, int] = {}
    # how often something was asked
    prompts: int = 0
    compactions: int = 0
    # tokens that the model saw and said last
    context_tokens: int = 0
    # when something was last said or done
    last_at: str | None = None
    pending_calls: dict[str, PendingCall] = {}
    # calls that have one, the last of them: history can be written a second time
    finished_calls: dict[str, bool] = {}


class SubagentShare(msgspec.Struct, array_like=True, gc=False):
    """Of what a subagent did as much as counts for its session; thousands may add up."""

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
    """What a tool brought back."""

    type: str = ""
    tool_use_id: str = ""
    is_error: bool | None = None
    content: Raw = EMPTY_RAW


_calls_decoder = msgspec.json.Decoder(list[_Call])
_edit_decoder = msgspec.json.Decoder(_Edit)
_results_decoder = msgspec.json.Decoder(list[CallResult])


class FactFold:
    """Facts in the making."""

    def __init__(self, facts: SessionFacts, deeds: ActivityFold | None = None) -> None:
        self.facts = facts
        # when things were done is written down there, for whoever wants to know
        self._activity = deeds or ActivityFold(Activity(), [], ReplyUsage())
        # of these only the last are told: as they were written, until then
        self._last_usage = b""
        self._last_commands: deque[bytes] = deque(maxlen=MAX_COMMANDS)

    def add(self, entry: Entry, *, prompt: str | None, is_copy: bool) -> None:
        """Take the next line of the main conversation; `asked`: what a person asks in it."""
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
            # how much is left is known with the next reply
            facts.context_tokens, self._last_usage = 0, b""
            self._activity.add_compaction(entry)
        elif prompt is not None:
            self._add_prompt(prompt, entry)
        else:
            return
        facts.last_at = entry.timestamp or facts.last_at

    def _add_prompt(self, asked: str, entry: Entry) -> None:
        self._activity.add_prompt(entry, asked)
        self.facts.prompts += 1

    def add_usage(self, reply: EntryMessage) -> None:
        """What this reply saw and said is the context, until another one comes."""
        self._last_usage = bytes(reply.usage)

    def finish(self) -> None:
        """Look into the last reply and the last commands: of the others nothing is asked."""
        facts = self.facts
        commands = [shorten(raw_text_field(each, "command"), 200) for each in self._last_commands]
        facts.last_commands = [*facts.last_commands, *commands][-MAX_COMMANDS:]
        self._last_commands.clear()
        usage = usage_of(self._last_usage)
        self._last_usage = b""
        if usage is None:
            return
        seen = (
            (usage.input_tokens or 0)
            + (usage.cache_read_input_tokens or 0)
            + (usage.cache_creation_input_tokens or 0)
        )
        if seen > 0:
            facts.context_tokens = min(MAX_TOKENS, seen + (usage.output_tokens or 0))

    # ---- calls ----

    def _add_calls(self, entry: Entry) -> None:
        content = bytes(entry.message.content)
        if _TOOL_USE not in content:
            return
        facts = self.facts
        made = 0
        for call in _decode_calls(content):
            if call.id in facts.finished_calls:
                continue
            made += 1
            known = call.name in facts.tool_counts or len(facts.tool_counts) < MAX_TOOLS
            name = call.name if known else OTHER_TOOLS
            facts.tool_counts[name] = facts.tool_counts.get(name, 0) + 1
            facts.pending_calls[call.id] = (call.name, _needed_input(call))
            if len(facts.pending_calls) > MAX_PENDING:
                del facts.pending_calls[next(iter(facts.pending_calls))]
        self._activity.add_calls(made)

    # ---- results ----

    def _add_results(self, entry: Entry) -> None:
        for result in results_in(entry.message.content):
            call = self.facts.pending_calls.pop(result.tool_use_id, None)
            if call is not None:
                self._apply_result(call, result, entry)
                settled = self.facts.finished_calls
                settled[result.tool_use_id] = True
                if len(settled) > MAX_PENDING:
                    del settled[next(iter(settled))]

    def _apply_result(self, call: PendingCall, result: CallResult, entry: Entry) -> None:
        facts = self.facts
        tool, given = call
        failed = bool(result.is_error)
        words = content_text(result.content) if failed else ""
        if failed and (entry.denied_by is not None or is_refusal(words)):
            self._add_refusal(call, refusal_reason(words, entry.denied_by), entry)
            return
        if tool in SHELL_TOOLS:
            self._last_commands.append(given)
            facts.commands += 1
            facts.failed_commands += failed
        if failed:
            return
        match tool:
            case _ if tool in EDIT_TOOLS:
                self._add_edit(given.decode("utf-8", "replace"))
                self._activity.add_edit()
            case "TodoWrite":
                facts.todos = todos_of(loads(given))
            case "TaskCreate":
                facts.tasks = add_created_task(
                    facts.tasks, loads(given), content_text(result.content)
                )
            case "TaskUpdate":
                facts.tasks = apply_task_update(facts.tasks, loads(given))
            case "TeamDelete" if not _NO_SUCCESS.search(content_text(result.content)):
                # the list is the team's and goes with it, whatever its members left undone
                facts.tasks = []
            case "TaskList":
                facts.tasks = apply_task_list(facts.tasks, content_text(result.content))
            case "AskUserQuestion":
                for question, answer in answers_in(entry.tool_use_result, result.content):
                    self._add_decision("answer", question, answer, None, entry)
            case "ExitPlanMode":
                plan = raw_text_field(entry.tool_use_result, "plan") or raw_text_field(
                    given, "plan"
                )
                self._add_decision("plan", plan_title(plan), "approved", None, entry)

    def _add_refusal(self, call: PendingCall, reason: str | None, entry: Entry) -> None:
        tool, given = call
        if tool == "ExitPlanMode":
            plan = raw_text_field(given, "plan")
            self._add_decision("plan", plan_title(plan), "rejected", reason or None, entry)
        elif reason and tool == "AskUserQuestion":
            # put away with words: those are the answer
            asked = " ".join(question_text(questions_in(loads(given))).split())
            self._add_decision("answer", asked or "A question", reason, None, entry)
        elif reason:
            # of an edit only the path was kept
            path = given.decode("utf-8", "replace")
            subject = f"{tool} {path}" if tool in EDIT_TOOLS else describe_call(tool, given)
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
    """As much of a call's input as its result will need."""
    if call.name in EDIT_TOOLS:
        try:
            edit = _edit_decoder.decode(call.input)
        except DECODE_ERRORS:
            return b""
        return (edit.file_path or edit.notebook_path or "").encode("utf-8", "replace")
    given = bytes(call.input)
    return given if len(given) <= MAX_INPUT_BYTES else b""


def _decode_calls(content: bytes) -> Iterator[_Call]:
    try:
        calls = _calls_decoder.decode(content)
    except DECODE_ERRORS:
        return
    for call in calls:
        if call.type == "tool_use" and call.id:
            yield call


def results_in(content: Raw) -> list[CallResult]:
    """The results in a user line's content."""
    try:
        return _results_decoder.decode(content)
    except DECODE_ERRORS:
        return []


def tasks_of(facts: SessionFacts) -> list[Task]:
    """Both kinds of lists; what is there twice counts once."""
    known = {task.text for task in facts.tasks}
    return [*facts.tasks, *(todo for todo in facts.todos if todo.text not in known)]
