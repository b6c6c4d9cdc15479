"""What was done and decided in a session, folded line by line: tasks, decisions, files, commands.

Only the main conversation counts. A call counts when its result says that it was done.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import Any, Literal

import msgspec
from msgspec import Raw

from claudekeeper.model.activity import Activity, Deeds
from claudekeeper.model.attention import DENIED
from claudekeeper.model.entries import (
    NOTHING,
    Body,
    Entry,
    blocks_of,
    loads,
    starts,
    string_of,
    usage_of,
)
from claudekeeper.model.replies import MOST_TOKENS, Replies

TaskState = Literal["pending", "in_progress", "completed"]
DecisionKind = Literal["answer", "plan", "denial"]

EDITING = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
SHELLS = frozenset({"Bash", "PowerShell"})

# a session can be very long: of everything so much is kept, the newest first
MOST_DECISIONS = 200
MOST_FILES = 2_000
MOST_TASKS = 500
MOST_TOOLS = 200
MOST_COMMANDS = 10
MOST_PENDING = 64
LARGEST_INPUT = 64 * 1024
MOST_WORDS = 400
MOST_ASKED = 200
MOST_ASKED_WORDS = 300

_TOOL_USE = b'"tool_use"'
_REJECTED = re.compile(r"\s*The user doesn't want to (?:proceed|take this action)")
_SAID = re.compile(r"the user said:\s*(.*)", re.DOTALL)
_NOTE = re.compile(r"\n\s*Note: The user's next message may contain .*", re.DOTALL)
_CREATED = re.compile(r"Task #(\S+) created")
_LISTED = re.compile(r"^#(\S+) \[(pending|in_progress|completed)\] (.+)$", re.MULTILINE)
_ANSWERED = re.compile(r'"((?:[^"\\]|\\.)+)"="((?:[^"\\]|\\.)*)"')
_UNDONE = re.compile(r'"success":\s*false')
# Claude Code's own words in place of a reason
_CLARIFYING = "The user wants to clarify these questions"


class Task(msgspec.Struct, array_like=True, gc=False):
    """An item of a task list."""

    id: str
    text: str
    state: TaskState = "pending"
    group: str | None = None
    # the same in words for something that is being done
    doing: str | None = None


class Decision(msgspec.Struct, rename="camel", gc=False):
    """A question that was answered, a plan that was judged, a permission denied for a reason."""

    kind: DecisionKind
    # the question, the plan's title, or what was not allowed
    about: str
    # the answer; `approved` or `rejected`; `denied`
    decision: str
    reason: str | None = None
    # the message in which it was decided
    uuid: str | None = None
    at: str | None = None


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
    # how often something was asked, and the last of what was
    prompts: int = 0
    asked: list[str] = []
    compactions: int = 0
    # tokens that the model saw and said last
    context: int = 0
    # when something was last said or done
    last: str | None = None
    pending: dict[str, Pending] = {}
    # calls that have one, the last of them: history can be written a second time
    settled: dict[str, bool] = {}


class _Call(msgspec.Struct, gc=False):
    type: str = ""
    id: str = ""
    name: str = ""
    input: Raw = NOTHING


class _Edit(msgspec.Struct, gc=False):
    file_path: str | None = None
    notebook_path: str | None = None


class _Result(msgspec.Struct, gc=False):
    type: str = ""
    tool_use_id: str = ""
    is_error: bool | None = None
    content: Raw = NOTHING


_calls = msgspec.json.Decoder(list[_Call])
_edit = msgspec.json.Decoder(_Edit)
_results = msgspec.json.Decoder(list[_Result])
_STRANGE = (msgspec.MsgspecError, RecursionError, UnicodeDecodeError)


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
        self.facts.asked.append(asked[:MOST_ASKED_WORDS])
        del self.facts.asked[:-MOST_ASKED]

    def add_usage(self, reply: Body) -> None:
        """What this reply saw and said is the context, until another one comes."""
        self._last_usage = bytes(reply.usage)

    def settle(self) -> None:
        """Look into the last reply and the last commands: of the others nothing is asked."""
        facts = self.facts
        commands = [_short(_field(each, "command"), 200) for each in self._last_commands]
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
            if call.name in facts.tools or len(facts.tools) < MOST_TOOLS:
                facts.tools[call.name] = facts.tools.get(call.name, 0) + 1
            facts.pending[call.id] = (call.name, _kept(call))
            if len(facts.pending) > MOST_PENDING:
                del facts.pending[next(iter(facts.pending))]
        self._deeds.call(made)

    # ---- results ----

    def _add_results(self, entry: Entry) -> None:
        for result in _decoded_results(entry.message.content):
            call = self.facts.pending.pop(result.tool_use_id, None)
            if call is not None:
                self._settle(call, result, entry)
                settled = self.facts.settled
                settled[result.tool_use_id] = True
                if len(settled) > MOST_PENDING:
                    del settled[next(iter(settled))]

    def _settle(self, call: Pending, result: _Result, entry: Entry) -> None:
        facts = self.facts
        tool, given = call
        failed = bool(result.is_error)
        words = _words(result.content) if failed else ""
        if failed and (entry.denied_by is not None or _REJECTED.match(words)):
            self._refuse(call, _reason(words, entry), entry)
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
                facts.todos = list(_todos(loads(given)))[:MOST_TASKS]
            case "TaskCreate":
                self._create_task(loads(given), _words(result.content))
            case "TaskUpdate":
                self._update_task(loads(given))
            case "TeamDelete" if not _UNDONE.search(_words(result.content)):
                # the list is the team's and goes with it, whatever its members left undone
                facts.tasks = []
            case "TaskList":
                self._list_tasks(_words(result.content))
            case "AskUserQuestion":
                for question, answer in _answers(entry.tool_use_result, result.content):
                    self._decide("answer", question, answer, None, entry)
            case "ExitPlanMode":
                plan = _field(entry.tool_use_result, "plan") or _field(given, "plan")
                self._decide("plan", _title(plan), "approved", None, entry)

    def _refuse(self, call: Pending, reason: str | None, entry: Entry) -> None:
        tool, given = call
        if tool == "ExitPlanMode":
            plan = _field(given, "plan")
            self._decide("plan", _title(plan), "rejected", reason or None, entry)
        elif reason and tool != "AskUserQuestion":
            self._decide("denial", _subject(tool, given), "denied", reason, entry)

    def _decide(
        self, kind: DecisionKind, about: str, decision: str, reason: str | None, entry: Entry
    ) -> None:
        made = Decision(
            kind,
            _short(about, MOST_WORDS),
            _short(decision, MOST_WORDS),
            _short(reason, MOST_WORDS) if reason else None,
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

    # ---- tasks ----

    def _create_task(self, given: Any, words: str) -> None:
        created = _CREATED.search(_whole(words))
        text = _text(given, "subject") or _text(given, "description")
        if created is None or not text or len(self.facts.tasks) >= MOST_TASKS:
            return
        doing = _text(given, "activeForm") or None
        self._forget(created[1])
        self.facts.tasks.append(
            Task(created[1], _short(text), "pending", _text(given, "owner") or None, doing)
        )

    def _update_task(self, given: Any) -> None:
        task_id = _text(given, "taskId")
        state = _text(given, "status")
        if state == "deleted":
            self._forget(task_id)
            return
        for task in self.facts.tasks:
            if task.id == task_id:
                task.text = _short(_text(given, "subject")) or task.text
                task.group = _text(given, "owner") or task.group
                task.doing = _text(given, "activeForm") or task.doing
                task.state = _state(state) or task.state

    def _list_tasks(self, words: str) -> None:
        """What the list says now counts: others may have worked on it."""
        known = {task.id: task for task in self.facts.tasks}
        for task_id, state, text in _LISTED.findall(_whole(words))[:MOST_TASKS]:
            if task_id in known:
                known[task_id].state = state
            elif len(self.facts.tasks) < MOST_TASKS:
                self.facts.tasks.append(Task(task_id, _short(text), state))

    def _forget(self, task_id: str) -> None:
        self.facts.tasks = [task for task in self.facts.tasks if task.id != task_id]


def _kept(call: _Call) -> bytes:
    """As much of a call's input as its result will need."""
    if call.name in EDITING:
        try:
            edit = _edit.decode(call.input)
        except _STRANGE:
            return b""
        return (edit.file_path or edit.notebook_path or "").encode("utf-8", "replace")
    given = bytes(call.input)
    return given if len(given) <= LARGEST_INPUT else b""


def _decoded_calls(content: bytes) -> Iterator[_Call]:
    try:
        calls = _calls.decode(content)
    except _STRANGE:
        return
    for call in calls:
        if call.type == "tool_use" and call.id:
            yield call


def _decoded_results(content: Raw) -> list[_Result]:
    try:
        return _results.decode(content)
    except _STRANGE:
        return []


def _todos(given: Any) -> Iterator[Task]:
    items = given.get("todos") if isinstance(given, dict) else None
    for number, item in enumerate(items if isinstance(items, list) else [], start=1):
        text = _text(item, "content") or _text(item, "subject")
        if text:
            yield Task(
                _text(item, "id") or str(number),
                _short(text),
                _state(_text(item, "status")) or "pending",
                None,
                _short(_text(item, "activeForm")) or None,
            )


def _state(text: str) -> TaskState | None:
    match text:
        case "pending" | "in_progress" | "completed":
            return text
        case "cancelled" | "done":
            return "completed"
        case _:
            return None


def _answers(kept: Raw, content: Raw) -> Iterator[tuple[str, str]]:
    loose = loads(kept) if starts(kept, b"{") else None
    answers = loose.get("answers") if isinstance(loose, dict) else None
    if isinstance(answers, dict) and answers:
        for question, answer in answers.items():
            if isinstance(answer, list):
                yield question, ", ".join(str(each) for each in answer)
            elif answer is not None:
                yield question, str(answer)
        return
    for question, answer in _ANSWERED.findall(_words(content)):
        yield question, answer


def _reason(words: str, entry: Entry) -> str | None:
    """Why a person refused; None where no person did, or nobody said why."""
    if _REJECTED.match(words):
        said = _SAID.search(words)
        reason = _NOTE.sub("", said[1]).strip() if said else ""
        return None if reason.startswith(_CLARIFYING) else reason or None
    if entry.denied_by != "person":
        return None
    # where nothing was said, the keeper itself has to say something
    return None if words.strip() == DENIED else words.strip() or None


def _subject(tool: str, given: bytes) -> str:
    """What a call would have done, in a line."""
    if tool in EDITING:
        return f"{tool} {given.decode('utf-8', 'replace')}"
    loose = loads(given)
    for name in ("command", "file_path", "path", "url", "pattern", "query", "description"):
        if text := _text(loose, name):
            return f"{tool} {text}"
    return tool


def _title(plan: str) -> str:
    """A plan's heading, or its first line."""
    for line in plan.splitlines():
        if line.strip(" #*-"):
            return line.strip(" #*-")
    return "Plan"


def _words(content: Raw) -> str:
    if starts(content, b'"'):
        return string_of(content)
    return "\n".join(block.text for block in blocks_of(content) if block.text)


def _field(raw: Raw | bytes, name: str) -> str:
    return _text(loads(raw), name) if bytes(memoryview(raw)[:1]) == b"{" else ""


def _text(value: Any, name: str) -> str:
    text = value.get(name) if isinstance(value, dict) else None
    return _whole(text) if isinstance(text, str) else str(text) if isinstance(text, int) else ""


def _whole(text: str) -> str:
    """Half an emoji cannot be written down."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _short(text: str, most: int = MOST_WORDS) -> str:
    text = _whole(text.strip())
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
