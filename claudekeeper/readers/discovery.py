"""Which sessions there are: every main transcript below `projects/`, and what it is about.

A first look reads the head and the tail of a file and takes what stands there. What needs the
whole file (counts, tokens, a title in the middle) is folded later, from where the last fold ended.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from claudekeeper.model.entries import Entry, parse, told_nothing
from claudekeeper.model.summary import SYNTHETIC, Fold, Folded, Summary, Tokens, said_by
from claudekeeper.readers.lines import Changed, forwards, opened
from claudekeeper.readers.paths import is_session_id

SUFFIX = ".jsonl"
HEAD = 8 * 1024
TAIL = 16 * 1024
# a first line of this size is still looked into for the prompt; beyond it the fold will tell
WIDEST = 512 * 1024
# a file this small is folded at once
SMALL = 16 * 1024
MARK = 64


class Found(msgspec.Struct, frozen=True, gc=False):
    """A transcript on disk, and which version of it."""

    id: str
    path: str
    inode: int
    size: int
    mtime: int

    def is_same_version(self, other: Found) -> bool:
        return (self.inode, self.size, self.mtime) == (other.inode, other.size, other.mtime)


class Fault(msgspec.Struct, frozen=True, gc=False):
    """Why a transcript cannot be shown."""

    code: str
    message: str


EMPTY = Fault("transcript_empty", "The transcript is empty.")
ILLEGIBLE = Fault("transcript_unreadable", "No line of the transcript can be read.")


class Row(msgspec.Struct, gc=False):
    """A session of the list."""

    found: Found
    summary: Summary
    fault: Fault | None = None

    @property
    def is_session(self) -> bool:
        return not self.summary.is_subagent


def project_folders(projects: Path) -> dict[str, int]:
    """The folders of the projects with their modification times."""
    folders: dict[str, int] = {}
    try:
        with os.scandir(projects) as entries:
            for entry in entries:
                try:
                    if _is_inside(entry, projects) and entry.is_dir():
                        folders[entry.path] = entry.stat().st_mtime_ns
                except OSError:
                    continue
    except OSError:
        return {}
    return folders


def transcripts(folder: str) -> list[Found]:
    """The main transcripts of one project; subagents' files have other names."""
    found: list[Found] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if not name.endswith(SUFFIX) or not is_session_id(name[: -len(SUFFIX)]):
                    continue
                try:
                    if not _is_inside(entry, Path(folder).parent):
                        continue
                    facts = entry.stat()
                except OSError:
                    # gone between the listing and the look: it is not there
                    continue
                found.append(_found(entry.path, name[: -len(SUFFIX)].lower(), facts))
    except OSError:
        return []
    return found


def look_again(found: Found) -> Found | None:
    """The version of a transcript that is on disk now; None when it is gone."""
    try:
        return _found(found.path, found.id, os.stat(found.path))
    except OSError:
        return None


def newest(rows: Iterable[Row]) -> list[Row]:
    """One row a session: of several files with its id, the one written last."""
    by_id: dict[str, Row] = {}
    for row in rows:
        if not row.is_session:
            continue
        found = row.found
        known = by_id.get(found.id)
        if known is None or (found.mtime, found.path) > (known.found.mtime, known.found.path):
            by_id[found.id] = row
    return list(by_id.values())


def first_look(found: Found) -> Row | None:
    """What head and tail of the file tell; None for a file that is gone."""
    try:
        with opened(found.path) as descriptor:
            if found.size == 0:
                return Row(found, Summary(counted=True), EMPTY)
            if found.size <= SMALL:
                return _fold(descriptor, found, Fold(), 0)[0]
            summary = Summary()
            _read_head(descriptor, found.size, summary)
            _read_tail(descriptor, found.size, summary)
    except FileNotFoundError:
        return None
    except (OSError, Changed) as error:
        return Row(found, Summary(), _fault(error))
    return Row(found, summary)


def fold_on(row: Row, folded: Folded | None) -> tuple[Row, Folded | None] | None:
    """The row with every line read: from where it stopped, or anew if the file was rewritten."""
    found = look_again(row.found)
    if found is None:
        return None
    try:
        with opened(found.path) as descriptor:
            if folded is not None and _only_grown(descriptor, found, folded):
                # the old row may be in somebody's hands: fold into a copy
                summary = msgspec.structs.replace(row.summary)
                summary.tokens = msgspec.structs.replace(summary.tokens or Tokens())
                return _fold(descriptor, found, Fold(summary, folded), folded.offset)
            return _fold(descriptor, found, Fold(), 0)
    except FileNotFoundError:
        return None
    except (OSError, Changed) as error:
        return Row(found, row.summary, _fault(error)), None


def _only_grown(descriptor: int, found: Found, folded: Folded) -> bool:
    """Whether the part that was folded is still what it was."""
    if found.size < folded.offset:
        return False
    return _mark(descriptor, folded.offset) == folded.mark


def _mark(descriptor: int, offset: int) -> bytes:
    start = max(0, offset - MARK)
    return os.pread(descriptor, offset - start, start)


def _fold(descriptor: int, found: Found, fold: Fold, start: int) -> tuple[Row, Folded]:
    offset = start
    for at, line, ended in forwards(descriptor, start, found.size):
        if line and not told_nothing(line):
            entries, bad = parse(line)
            if bad and not ended:
                # stop before a torn line; its writer may still be mid-append
                break
            for entry in entries:
                fold.add(entry)
            fold.summary.unreadable += bad
        elif line:
            fold.summary.lines += 1
        offset = at + len(line) + ended
    summary, folded = fold.finish(offset, _mark(descriptor, offset))
    fault = EMPTY if found.size == 0 else ILLEGIBLE if summary.lines == 0 else None
    return Row(found, summary, fault), folded


def _read_head(descriptor: int, size: int, summary: Summary) -> None:
    """The first of everything: directory, time, prompt."""
    window = HEAD
    position = 0
    rest = b""
    while position < size and position < WIDEST:
        block = os.pread(descriptor, window, position)
        if not block:
            return
        position += len(block)
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            if told_nothing(line):
                summary.lines += 1
                continue
            entries, bad = parse(line)
            summary.unreadable += bad
            for entry in entries:
                _begin(summary, entry)
            if summary.first_prompt and summary.workdir:
                return
        window = min(window * 4, WIDEST)


def _begin(summary: Summary, entry: Entry) -> None:
    summary.lines += 1
    match entry.type:
        case "custom-title":
            summary.custom_title = entry.custom_title
        case "ai-title":
            summary.ai_title = entry.ai_title
    if entry.is_sidechain:
        summary.sidechains = True
        return
    summary.workdir = summary.workdir or entry.cwd
    summary.git_branch = entry.git_branch or summary.git_branch
    if entry.uuid is None:
        return
    summary.main_lines += 1
    summary.created = summary.created or entry.timestamp
    if entry.type == "assistant" and entry.message.model not in (None, SYNTHETIC):
        summary.model = entry.message.model
    if entry.type == "user" and (said := said_by(entry)):
        text, real = said
        if real:
            summary.first_prompt = summary.first_prompt or text
        else:
            summary.first_command = summary.first_command or text


def _read_tail(descriptor: int, size: int, summary: Summary) -> None:
    """The last of everything: titles, prompt, model, branch."""
    start = max(0, size - TAIL)
    lines = os.pread(descriptor, TAIL, start).split(b"\n")
    if start > 0:
        # the first one is only the end of a line
        del lines[0]
    missing = {"custom_title", "ai_title", "last_prompt", "model", "git_branch"}
    for line in reversed(lines):
        if not missing:
            return
        if not line or told_nothing(line):
            continue
        for entry in reversed(parse(line)[0]):
            for name in tuple(missing):
                value = _last(name, entry)
                if value:
                    setattr(summary, name, value)
                    missing.discard(name)


def _last(name: str, entry: Entry) -> str | None:
    match name:
        case "custom_title":
            return entry.custom_title
        case "ai_title":
            return entry.ai_title
        case "git_branch":
            return entry.git_branch
        case "model" if entry.type == "assistant" and entry.message.model != SYNTHETIC:
            return entry.message.model
        case "last_prompt" if entry.type in ("user", "attachment") and entry.uuid:
            said = said_by(entry)
            return said[0] if said and said[1] else None
        case "last_prompt":
            return entry.last_prompt
        case _:
            return None


def _is_inside(entry: os.DirEntry[str], root: Path) -> bool:
    """Whether a link leads somewhere below the root; what is no link always does."""
    if not entry.is_symlink():
        return True
    return os.path.realpath(entry.path).startswith(os.path.realpath(root) + os.sep)


def _found(path: str, session_id: str, facts: os.stat_result) -> Found:
    return Found(session_id, path, facts.st_ino, facts.st_size, facts.st_mtime_ns)


def _fault(error: Exception) -> Fault:
    reason = (error.strerror if isinstance(error, OSError) else None) or "it keeps changing"
    return Fault("transcript_unreadable", f"The transcript cannot be read: {reason}.")
