"""The changes of files between two messages: edits, new files, deletions.

A call counts when its result says that it succeeded. If Claude Code recorded the text of a file
before, the change has its text before the first and after the last edit; otherwise its edits.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from typing import Any, Literal

import msgspec

from claudekeeper.analysis.decisions import dicts_in
from claudekeeper.analysis.session_facts import EDIT_TOOLS, SHELL_TOOLS
from claudekeeper.transcripts.entries import EMPTY_RAW, Entry, loads, starts_with

ChangeKind = Literal["created", "changed", "deleted"]

# a branch can be long: limits of the answer
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
    """One edit: the text before, and the text after."""

    before: str
    after: str


class FileChange(msgspec.Struct, rename="camel", kw_only=True):
    """The change of a file. `before` and `after`: its whole text, if that is recorded and not too
    long; `pieces`: its edits, otherwise."""

    path: str
    fate: ChangeKind = "changed"
    edits: int = 0
    before: str | None = None
    after: str | None = None
    pieces: list[FilePiece] = []
    # whether something was too long for the answer
    cut: bool = False
    # the message of the last change
    uuid: str | None = None


class FileChanges:
    """Folds the changes of files, in the order in which they were made."""

    def __init__(self) -> None:
        self.files: dict[str, FileChange] = {}
        self._omitted_files: set[str] = set()
        self._pending_calls: dict[str, tuple[str, dict[str, Any], str | None]] = {}

    @property
    def more_files(self) -> int:
        """How many files were left out."""
        return len(self._omitted_files)

    def add(self, entry: Entry) -> None:
        content = entry.message.content
        if entry.type == "assistant":
            if _TOOL_USE in bytes(content):
                self._add_calls(entry)
        elif entry.type == "user" and self._pending_calls and starts_with(content, b"["):
            self._add_results(entry)

    def finish(self) -> list[FileChange]:
        """All changes, with a bounded amount of text."""
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
        for call in dicts_in(loads(entry.message.content)):
            name, fields, call_id = call.get("name"), call.get("input"), call.get("id")
            if call.get("type") != "tool_use" or not isinstance(fields, dict):
                continue
            if isinstance(call_id, str) and isinstance(name, str) and _changes_files(name, fields):
                self._pending_calls[call_id] = (name, fields, entry.cwd)

    def _add_results(self, entry: Entry) -> None:
        for result in dicts_in(loads(entry.message.content)):
            call = self._pending_calls.pop(str(result.get("tool_use_id")), None)
            if call is None or result.get("is_error"):
                continue
            name, fields, workdir = call
            if name in SHELL_TOOLS:
                for path in deleted_files(str(fields.get("command") or ""), workdir):
                    self._add_deletion(path, entry)
            else:
                raw = entry.tool_use_result
                record = loads(raw) if raw is not EMPTY_RAW else None
                self._add_edit(name, fields, record if isinstance(record, dict) else {}, entry)

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
            # a new file that was deleted again is no change
            del self.files[path]
            return
        change.fate, change.after = "deleted", None

    def _add_edit(
        self, name: str, fields: dict[str, Any], record: dict[str, Any], entry: Entry
    ) -> None:
        """Add an edit: the input of its call, and what Claude Code recorded of its result."""
        path = _text_or_none(fields.get("file_path")) or _text_or_none(fields.get("notebook_path"))
        change = self._change_of(path, entry) if path else None
        if change is None:
            return
        original = _text_or_none(record.get("originalFile"))
        if change.edits == 0 and change.fate != "deleted":
            change.before = original
            is_new = name == "Write" and (
                record.get("type") == "create" or record.get("originalFile", 0) is None
            )
            change.fate = "created" if is_new else "changed"
        elif change.fate == "deleted":
            change.fate = "changed"
        change.edits += 1
        pieces = pieces_of(name, fields)
        change.pieces += pieces[: max(0, MAX_PIECES + 1 - len(change.pieces))]
        before = original if original is not None else change.after
        change.after = text_after(name, fields, before)


def pieces_of(tool: str, fields: dict[str, Any]) -> list[FilePiece]:
    """The edits of a call."""
    match tool:
        case "Write":
            return [FilePiece("", _text_or_none(fields.get("content")) or "")]
        case "NotebookEdit":
            return [FilePiece("", _text_or_none(fields.get("new_source")) or "")]
        case "MultiEdit":
            return [
                piece for each in dicts_in(fields.get("edits")) for piece in pieces_of("Edit", each)
            ]
        case _:
            return [
                FilePiece(
                    _text_or_none(fields.get("old_string")) or "",
                    _text_or_none(fields.get("new_string")) or "",
                )
            ]


def text_after(tool: str, fields: dict[str, Any], text: str | None) -> str | None:
    """The whole text of a file after a call; None if it is unknown."""
    if tool == "Write":
        return _text_or_none(fields.get("content"))
    edits = dicts_in(fields.get("edits")) if tool == "MultiEdit" else [fields]
    for edit in edits if tool in ("Edit", "MultiEdit") else [{}]:
        old, new = _text_or_none(edit.get("old_string")), _text_or_none(edit.get("new_string"))
        if text is None or new is None or not old or old not in text:
            return None
        text = text.replace(old, new) if edit.get("replace_all") else text.replace(old, new, 1)
    return text


def deleted_files(command: str, workdir: str | None) -> list[str]:
    """The files that a command deletes if it succeeds; those of a pattern are left out."""
    try:
        lexer = shlex.shlex(command, posix=True, punctuation_chars=";&|\n")
        lexer.whitespace, lexer.whitespace_split = " \t\r", True
        words = list(lexer)
    except ValueError:
        return []
    paths: list[str] = []
    run: list[str] = []
    for word in [*words, ";"]:
        if word.strip("\n;&|") or not word:
            run.append(word)
            continue
        if run[:1] == ["cd"]:
            # the rest is relative to another directory
            workdir = None
        paths += _deleted_arguments(run)
        run = []
    return [path for each in paths if (path := _absolute_path(each, workdir)) is not None]


def _deleted_arguments(words: list[str]) -> list[str]:
    words = words[1:] if words[:1] == ["git"] else words
    arguments = [word for word in words[1:] if not word.startswith("-")]
    match words[:1]:
        case ["rm"] | ["unlink"]:
            return arguments
        case ["mv"] if len(arguments) == 2:
            return arguments[:1]
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


def _changes_files(tool: str, fields: dict[str, Any]) -> bool:
    if tool in SHELL_TOOLS:
        command = fields.get("command")
        return isinstance(command, str) and _DELETE_COMMAND.search(command) is not None
    return tool in EDIT_TOOLS


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None
