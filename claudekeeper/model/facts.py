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

from claudekeeper.model.activity import Activity, Deeds
from claudekeeper.model.decisions import (
    Decision,
    DecisionKind,
    answers_in,
    is_refusal,
    questions_in,
    reason_in,
    subject_of,
    title_of,
    wording_of,
)
from claudekeeper.model.entries import NOTHING, REFUSED, Body, Entry, loads, starts, usage_of
from claudekeeper.model.loose import field_of, short, words_of
from claudekeeper.model.replies import MOST_TOKENS, Replies
from claudekeeper.model.tasklist import Task, created, listed, todos_of, updated

EDITING = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
SHELLS = frozenset({"Bash", "PowerShell"})

# a session can be very long: of everything so much is kept, the newest first
MOST_DECISIONS = 200
MOST_FILES = 2_000
MOST_TOOLS = 200
# of the others it is only known how often they were called
OTHER_TOOLS = ""
MOST_COMMANDS = 10
MOST_PENDING = 64
LARGEST_INPUT = 64 * 1024

_TOOL_USE = b'"tool_use"'
_UNDONE = re.compile(r'"success":\s*false')

# a call that has no result yet: its tool, and its input as JSON; of an edit only the path
Pending = tuple[str, bytes]


class Facts(msgspec.Struct, array_like=True, gc=False):
    """What is known of a session when every line of it was read."""

    todos: list[Task] = []
    tasks: list[Task] = []
    decisions: list[Decision] = []
    # edits that were made, by file; and of how many files nothing is kept
    files: dict[str, int] = {}
    more_files: int = 0
    commands: int = 0
    failed_commands: int = 0
    last_commands: list[str] = []
    tools: dict[str, int] = {}
    # how often something was asked
    prompts: int = 0
    compactions: int = 0
    # tokens that the model saw and said last
    context: int = 0
    # when something was last said or done
    last: str | None = None
    pending: dict[str, Pending] = {}
    # calls that have one, the last of them: history can be written a second time
    settled: dict[str, bool] = {}


class Share(msgspec.Struct, array_like=True, gc=False):
    """Of what a subagent did as much as counts for its session; thousands may add up."""

    files: dict[str, int] = {}
    more_files: int = 0
    commands: int = 0
    failed_commands: int = 0
    tools: int = 0


def share_of(facts: Facts) -> Share:
    return Share(
        facts.files,
        facts.more_files,
        facts.commands,
        facts.failed_commands,
        sum(facts.tools.values()),
    )


class _Call(msgspec.Struct, gc=False):
    type: str = ""
    id: str = ""
    name: str = ""
    input: Raw = NOTHING


class _Edit(msgspec.Struct, gc=False):
    file_path: str | None = None
    notebook_path: str | None = None


class CallResult(msgspec.Struct, gc=False):
    """What a tool brought back."""

    type: str = ""
    tool_use_id: str = ""
    is_error: bool | None = None
    content: Raw = NOTHING


_calls = msgspec.json.Decoder(list[_Call])
_edit = msgspec.json.Decoder(_Edit)
_results = msgspec.json.Decoder(list[CallResult])


class FactFinder:
    """Facts in the making."""

    def __init__(self, facts: Facts, deeds: Deeds | None = None) -> None:
        self.facts = facts
        # when things were done is written down there, for whoever wants to know
        self._deeds = deeds or Deeds(Activity(), [], Replies())
        # of these only the last are told: as they were written, until then
        self._last_usage = b""
        self._last_commands: deque[bytes] = deque(maxlen=MOST_COMMANDS)

    def add(self, entry: Entry, *, asked: str | None, replayed: bool) -> None:
        """Take the next line of the main conversation; `asked`: what a person asks in it."""
        facts = self.facts
        if entry.type == "assistant":
            if not replayed:
                self._add_calls(entry)
        elif entry.type == "user":
            if asked is not None:
                self._ask(asked, entry)
            elif facts.pending and starts(entry.message.content, b"["):
                self._add_results(entry)
        elif entry.type == "system" and entry.subtype == "compact_boundary":
            facts.compactions += 1
            # how much is left is known with the next reply
            facts.context, self._last_usage = 0, b""
            self._deeds.compact(entry)
        elif asked is not None:
            self._ask(asked, entry)
        else:
            return
        facts.last = entry.timestamp or facts.last

    def _ask(self, asked: str, entry: Entry) -> None:
        self._deeds.ask(entry, asked)
        self.facts.prompts += 1

    def add_usage(self, reply: Body) -> None:
        """What this reply saw and said is the context, until another one comes."""
        self._last_usage = bytes(reply.usage)

    def settle(self) -> None:
        """Look into the last reply and the last commands: of the others nothing is asked."""
        facts = self.facts
        commands = [short(field_of(each, "command"), 200) for each in self._last_commands]
        facts.last_commands = [*facts.last_commands, *commands][-MOST_COMMANDS:]
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
            facts.context = min(MOST_TOKENS, seen + (usage.output_tokens or 0))

    # ---- calls ----

    def _add_calls(self, entry: Entry) -> None:
        content = bytes(entry.message.content)
        if _TOOL_USE not in content:
            return
        facts = self.facts
        made = 0
        for call in _decoded_calls(content):
            if call.id in facts.settled:
                continue
            made += 1
            known = call.name in facts.tools or len(facts.tools) < MOST_TOOLS
            name = call.name if known else OTHER_TOOLS
            facts.tools[name] = facts.tools.get(name, 0) + 1
            facts.pending[call.id] = (call.name, _kept(call))
            if len(facts.pending) > MOST_PENDING:
                del facts.pending[next(iter(facts.pending))]
        self._deeds.call(made)

    # ---- results ----

    def _add_results(self, entry: Entry) -> None:
        for result in results_in(entry.message.content):
            call = self.facts.pending.pop(result.tool_use_id, None)
            if call is not None:
                self._settle(call, result, entry)
                settled = self.facts.settled
                settled[result.tool_use_id] = True
                if len(settled) > MOST_PENDING:
                    del settled[next(iter(settled))]

    def _settle(self, call: Pending, result: CallResult, entry: Entry) -> None:
        facts = self.facts
        tool, given = call
        failed = bool(result.is_error)
        words = words_of(result.content) if failed else ""
        if failed and (entry.denied_by is not None or is_refusal(words)):
            self._refuse(call, reason_in(words, entry.denied_by), entry)
            return
        if tool in SHELLS:
            self._last_commands.append(given)
            facts.commands += 1
            facts.failed_commands += failed
        if failed:
            return
        match tool:
            case _ if tool in EDITING:
                self._edited(given.decode("utf-8", "replace"))
                self._deeds.edit()
            case "TodoWrite":
                facts.todos = todos_of(loads(given))
            case "TaskCreate":
                facts.tasks = created(facts.tasks, loads(given), words_of(result.content))
            case "TaskUpdate":
                facts.tasks = updated(facts.tasks, loads(given))
            case "TeamDelete" if not _UNDONE.search(words_of(result.content)):
                # the list is the team's and goes with it, whatever its members left undone
                facts.tasks = []
            case "TaskList":
                facts.tasks = listed(facts.tasks, words_of(result.content))
            case "AskUserQuestion":
                for question, answer in answers_in(entry.tool_use_result, result.content):
                    self._decide("answer", question, answer, None, entry)
            case "ExitPlanMode":
                plan = field_of(entry.tool_use_result, "plan") or field_of(given, "plan")
                self._decide("plan", title_of(plan), "approved", None, entry)

    def _refuse(self, call: Pending, reason: str | None, entry: Entry) -> None:
        tool, given = call
        if tool == "ExitPlanMode":
            plan = field_of(given, "plan")
            self._decide("plan", title_of(plan), "rejected", reason or None, entry)
        elif reason and tool == "AskUserQuestion":
            # put away with words: those are the answer
            asked = " ".join(wording_of(questions_in(loads(given))).split())
            self._decide("answer", asked or "A question", reason, None, entry)
        elif reason:
            # of an edit only the path was kept
            path = given.decode("utf-8", "replace")
            subject = f"{tool} {path}" if tool in EDITING else subject_of(tool, given)
            self._decide("denial", subject, "denied", reason, entry)

    def _decide(
        self, kind: DecisionKind, about: str, decision: str, reason: str | None, entry: Entry
    ) -> None:
        made = Decision(
            kind,
            short(about),
            short(decision),
            short(reason) if reason else None,
            entry.uuid,
            entry.timestamp,
        )
        self.facts.decisions.append(made)
        del self.facts.decisions[:-MOST_DECISIONS]

    def _edited(self, path: str) -> None:
        files = self.facts.files
        if path in files or len(files) < MOST_FILES:
            files[path] = files.get(path, 0) + 1
        elif path:
            self.facts.more_files += 1


def _kept(call: _Call) -> bytes:
    """As much of a call's input as its result will need."""
    if call.name in EDITING:
        try:
            edit = _edit.decode(call.input)
        except REFUSED:
            return b""
        return (edit.file_path or edit.notebook_path or "").encode("utf-8", "replace")
    given = bytes(call.input)
    return given if len(given) <= LARGEST_INPUT else b""


def _decoded_calls(content: bytes) -> Iterator[_Call]:
    try:
        calls = _calls.decode(content)
    except REFUSED:
        return
    for call in calls:
        if call.type == "tool_use" and call.id:
            yield call


def results_in(content: Raw) -> list[CallResult]:
    """The results in a user line's content."""
    try:
        return _results.decode(content)
    except REFUSED:
        return []
