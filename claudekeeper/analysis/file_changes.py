"""What was done to files on the way from one message to another: edits, new files, deletions.

A call counts when its result says that it was done. Where Claude Code wrote down what a file was
before, its text before the first and after the last change is known; otherwise the pieces are.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from typing import Any, Literal

import msgspec

from claudekeeper.analysis.session_facts import EDIT_TOOLS, SHELL_TOOLS
from claudekeeper.transcripts.entries import EMPTY_RAW, Entry, loads, starts_with

ChangeKind = Literal["created", "changed", "deleted"]

# a branch can be long: of everything so much is told
MAX_FILES = 300
MAX_OMITTED_FILES = 10_000
MAX_PIECES = 40
MAX_FILE_TEXT = 100_000
MAX_PIECE_TEXT = 10_000
# characters of all files together
MAX_TOTAL_TEXT = 1_000_000

_TOOL_USE = b'"tool_use"'
_DELETE_COMMAND = re.compile(r"\b(?:rm|mv|unlink)\b")
_PATTERN_CHARACTERS = re.compile(r"[*?\[\]{}$`~]")


class FilePiece(msgspec.Struct):
    """One edit: what stood there, and what stands there now."""

    before: str
    after: str


class FileChange(msgspec.Struct, rename="camel", kw_only=True):
    """A file that is not what it was. `before` and `after`: its whole text, where that is known
    and not too long; `pieces`: its edits, otherwise."""

    path: str
    fate: ChangeKind = "changed"
    edits: int = 0
    before: str | None = None
    after: str | None = None
    pieces: list[FilePiece] = []
    # whether something was too long to be told
    cut: bool = False
    # the message of the last change
    uuid: str | None = None


class FileChanges:
    """Changes in the making, in the order in which they were made."""

    def __init__(self) -> None:
        self.files: dict[str, FileChange] = {}
        self._omitted_files: set[str] = set()
        self._pending_calls: dict[str, tuple[str, dict[str, Any], str | None]] = {}

    @property
    def more_files(self) -> int:
        """How many more there are than are told."""
        return len(self._omitted_files)

    def add(self, entry: Entry) -> None:
        content = entry.message.content
        if entry.type == "assistant":
            if _TOOL_USE in bytes(content):
                self._add_calls(entry)
        elif entry.type == "user" and self._pending_calls and starts_with(content, b"["):
            self._add_results(entry)

    def finish(self) -> list[FileChange]:
        """All of them, with no more text than a client can take."""
        room = MAX_TOTAL_TEXT
        for change in self.files.values():
            texts = [text for text in (change.before, change.after) if text is not None]
            if any(len(text) > MAX_FILE_TEXT for text in texts) or sum(map(len, texts)) > room:
                change.before = change.after = None
                change.cut = True
            room -= len(change.before or "") + len(change.after or "")
            pieces = change.pieces if change.after is None and change.fate != "deleted" else []
            change.pieces = []
            for piece in pieces[:MAX_PIECES]:
                size = len(piece.before) + len(piece.after)
                if size <= min(room, MAX_PIECE_TEXT):
                    change.pieces.append(piece)
                    room -= size
            change.cut = change.cut or len(change.pieces) < len(pieces)
        return list(self.files.values())

    # ---- calls and what came of them ----

    def _add_calls(self, entry: Entry) -> None:
        for call in _dicts_in(loads(entry.message.content)):
            name, given, call_id = call.get("name"), call.get("input"), call.get("id")
            if call.get("type") != "tool_use" or not isinstance(given, dict):
                continue
            if isinstance(call_id, str) and isinstance(name, str) and _changes_files(name, given):
                self._pending_calls[call_id] = (name, given, entry.cwd)

    def _add_results(self, entry: Entry) -> None:
        for result in _dicts_in(loads(entry.message.content)):
            call = self._pending_calls.pop(str(result.get("tool_use_id")), None)
            if call is None or result.get("is_error"):
                continue
            name, given, workdir = call
            if name in SHELL_TOOLS:
                for path in deleted_files(str(given.get("command") or ""), workdir):
                    self._add_deletion(path, entry)
            else:
                told = (
                    loads(entry.tool_use_result) if entry.tool_use_result is not EMPTY_RAW else None
                )
                self._add_edit(name, given, told if isinstance(told, dict) else {}, entry)

    def _change_of(self, path: str, entry: Entry) -> FileChange | None:
        change = self.files.get(path)
        if change is None:
            if len(self.files) >= MAX_FILES:
                if len(self._omitted_files) < MAX_OMITTED_FILES:
                    self._omitted_files.add(path)
                return None
            change = self.files[path] = FileChange(path=path, pieces=[])
        change.uuid = entry.uuid
        return change

    def _add_deletion(self, path: str, entry: Entry) -> None:
        change = self._change_of(path, entry)
        if change is None:
            return
        if change.fate == "created":
            # it came and went: nothing of it is left
            del self.files[path]
            return
        change.fate, change.after = "deleted", None

    def _add_edit(
        self, name: str, given: dict[str, Any], told: dict[str, Any], entry: Entry
    ) -> None:
        path = _text_or_none(given.get("file_path")) or _text_or_none(given.get("notebook_path"))
        change = self._change_of(path, entry) if path else None
        if change is None:
            return
        was = _text_or_none(told.get("originalFile"))
        if change.edits == 0 and change.fate != "deleted":
            change.before = was
            fresh = name == "Write" and (
                told.get("type") == "create" or told.get("originalFile", 0) is None
            )
            change.fate = "created" if fresh else "changed"
        elif change.fate == "deleted":
            change.fate = "changed"
        change.edits += 1
        pieces = pieces_of(name, given)
        change.pieces += pieces[: max(0, MAX_PIECES + 1 - len(change.pieces))]
        change.after = text_after(name, given, was if was is not None else change.after)


def pieces_of(tool: str, given: dict[str, Any]) -> list[FilePiece]:
    """The edits that a call asks for."""
    match tool:
        case "Write":
            return [FilePiece("", _text_or_none(given.get("content")) or "")]
        case "NotebookEdit":
            return [FilePiece("", _text_or_none(given.get("new_source")) or "")]
        case "MultiEdit":
            return [
                piece for each in _dicts_in(given.get("edits")) for piece in pieces_of("Edit", each)
            ]
        case _:
            return [
                FilePiece(
                    _text_or_none(given.get("old_string")) or "",
                    _text_or_none(given.get("new_string")) or "",
                )
            ]


def text_after(tool: str, given: dict[str, Any], text: str | None) -> str | None:
    """The whole file after a call; None where that cannot be told."""
    if tool == "Write":
        return _text_or_none(given.get("content"))
    edits = _dicts_in(given.get("edits")) if tool == "MultiEdit" else [given]
    for edit in edits if tool in ("Edit", "MultiEdit") else [{}]:
        old, new = _text_or_none(edit.get("old_string")), _text_or_none(edit.get("new_string"))
        if text is None or new is None or not old or old not in text:
            return None
        text = text.replace(old, new) if edit.get("replace_all") else text.replace(old, new, 1)
    return text


def deleted_files(command: str, workdir: str | None) -> list[str]:
    """The files that a command surely deletes, if it succeeds: named one by one, no patterns."""
    try:
        words = shlex.shlex(command, posix=True, punctuation_chars=";&|\n")
        words.whitespace, words.whitespace_split = " \t\r", True
        parts = list(words)
    except ValueError:
        return []
    found: list[str] = []
    run: list[str] = []
    for word in [*parts, ";"]:
        if word.strip("\n;&|") or not word:
            run.append(word)
            continue
        if run[:1] == ["cd"]:
            # what follows is relative to another place
            workdir = None
        found += _deleted_arguments(run)
        run = []
    return [path for each in found if (path := _absolute_path(each, workdir)) is not None]


def _deleted_arguments(run: list[str]) -> list[str]:
    run = run[1:] if run[:1] == ["git"] else run
    named = [word for word in run[1:] if not word.startswith("-")]
    match run[:1]:
        case ["rm"] | ["unlink"]:
            return named
        case ["mv"] if len(named) == 2:
            return named[:1]
        case _:
            return []


def _absolute_path(path: str, workdir: str | None) -> str | None:
    if _PATTERN_CHARACTERS.search(path):
        return None
    if not path.startswith("/"):
        if workdir is None:
            return None
        path = posixpath.join(workdir, path)
    return posixpath.normpath(path)


def _changes_files(tool: str, given: dict[str, Any]) -> bool:
    if tool in SHELL_TOOLS:
        command = given.get("command")
        return isinstance(command, str) and _DELETE_COMMAND.search(command) is not None
    return tool in EDIT_TOOLS


def _dicts_in(value: object) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None
