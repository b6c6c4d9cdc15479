"""Which sessions there are: every main transcript below `projects/`, and what it is about.

A first look reads the head and the tail of a file and takes what stands there. What needs the
whole file (counts, tokens, a title in the middle) is folded later, from where the last fold ended.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from operator import attrgetter
from pathlib import Path

import msgspec

from claudekeeper.model.entries import parse, told_nothing
from claudekeeper.model.errors import Fault
from claudekeeper.model.replies import Tokens
from claudekeeper.model.summary import Fold, Folded, Summary, pack, unpack
from claudekeeper.readers.glance import HEAD, read_head, read_tail
from claudekeeper.readers.lines import READ_ONLY, Changed, forwards, mark_before, opened
from claudekeeper.readers.paths import SESSION_ID, leads_out

SUFFIX = ".jsonl"
TRANSCRIPT = re.compile(SESSION_ID.pattern + re.escape(SUFFIX))
# a file this small is folded at once
SMALL = HEAD


class Found(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A transcript on disk, and which version of it."""

    id: str
    path: str
    inode: int
    size: int
    mtime: int

    def is_same_version(self, other: Found) -> bool:
        return (self.inode, self.size, self.mtime) == (other.inode, other.size, other.mtime)


EMPTY = Fault("transcript_empty", "The transcript is empty.")
ILLEGIBLE = Fault("transcript_unreadable", "No line of the transcript can be read.")


class Row(msgspec.Struct, array_like=True, gc=False):
    """A session of the list. Thousands are held, so what they tell may stay packed until asked."""

    found: Found
    told: Summary | bytes
    counted: bool
    is_session: bool
    fault: Fault | None = None
    # what says where it worked cannot be read; other lines of it may be
    is_lost: bool = False

    @classmethod
    def of(cls, found: Found, summary: Summary, fault: Fault | None = None) -> Row:
        broken = fault is not None or (summary.unreadable > 0 and not summary.main_lines)
        own = not summary.is_subagent
        return cls(found, summary, summary.counted, own, fault, own and broken)

    @property
    def summary(self) -> Summary:
        return _summary.decode(self.told) if isinstance(self.told, bytes) else self.told

    def packed(self) -> Row:
        """The same, small."""
        if isinstance(self.told, bytes):
            return self
        return msgspec.structs.replace(self, told=_pack(self.told))


_summary = msgspec.msgpack.Decoder(Summary)
_pack = msgspec.msgpack.Encoder().encode
_time = attrgetter("found.mtime")
_place = attrgetter("found.mtime", "found.id")


def project_folders(projects: Path) -> dict[str, int]:
    """The folders of the projects with their modification times."""
    folders: dict[str, int] = {}
    root = str(projects)
    try:
        with os.scandir(root) as entries:
            for entry in entries:
                try:
                    if entry.is_dir() and not (entry.is_symlink() and leads_out(entry.path, root)):
                        folders[entry.path] = entry.stat().st_mtime_ns
                except OSError:
                    continue
    except OSError:
        return {}
    return folders


def transcripts(folder: str) -> list[Found]:
    """The main transcripts of one project; subagents' files have other names."""
    return sort_out(folder, {})[1]


def sort_out(folder: str, known: Mapping[str, Row]) -> tuple[dict[str, Row], list[Found]]:
    """The transcripts of a project: those that are as they were known, and all others."""
    same: dict[str, Row] = {}
    others: list[Found] = []
    row_at = known.get
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                path = entry.path
                row = row_at(path)
                if row is None and TRANSCRIPT.fullmatch(entry.name) is None:
                    continue
                try:
                    facts = entry.stat()
                    if row is not None and row.fault is None:
                        found = row.found
                        if (
                            found.mtime == facts.st_mtime_ns
                            and found.size == facts.st_size
                            and found.inode == facts.st_ino
                        ):
                            same[path] = row
                            continue
                    if entry.is_symlink() and leads_out(entry.path, os.path.dirname(folder)):
                        continue
                except OSError:
                    # gone between the listing and the look: it is not there
                    continue
                others.append(_found(path, entry.name[: -len(SUFFIX)].lower(), facts))
    except OSError:
        return {}, []
    return same, others


def are_same(folder: str, rows: Iterable[Row]) -> bool:
    """Whether all of these, which lie in this folder, are on disk as they were known."""
    stat = os.stat
    name = len(folder) + 1
    try:
        # asked by name: the way to the folder is found once, not once for each of thousands
        inside = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        for row in rows:
            found = row.found
            facts = stat(found.path[name:], dir_fd=inside)
            if (
                found.mtime != facts.st_mtime_ns
                or found.size != facts.st_size
                or found.inode != facts.st_ino
                or row.fault is not None
            ):
                return False
    except OSError:
        return False
    finally:
        os.close(inside)
    return True


def look_again(found: Found) -> Found | None:
    """The version of a transcript that is on disk now; None when it is gone."""
    try:
        return _found(found.path, found.id, os.stat(found.path))
    except OSError:
        return None


def newest_first(rows: Iterable[Row]) -> list[Row]:
    """One row a session, the one written last first."""
    ordered = newest(rows)
    # two in one tick are rare: only they need more than a number to be told apart
    ordered.sort(key=_time, reverse=True)
    if any(one.found.mtime == other.found.mtime for one, other in pairwise(ordered)):
        ordered.sort(key=_place, reverse=True)
    return ordered


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
            return _look_at(descriptor, found)
    except FileNotFoundError:
        return None
    except OSError as error:
        return Row.of(found, Summary(), _fault(error))


def first_looks(folder: str) -> Iterator[Row]:
    """The same for a folder that is new to us: one question less for each file."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if TRANSCRIPT.fullmatch(entry.name) is None:
                    continue
                if entry.is_symlink() and leads_out(entry.path, os.path.dirname(folder)):
                    continue
                row = _look_at_new(entry.path, entry.name[: -len(SUFFIX)].lower())
                if row is not None:
                    yield row
    except OSError:
        return


def _look_at_new(path: str, session_id: str) -> Row | None:
    try:
        descriptor = os.open(path, READ_ONLY)
        try:
            return _look_at(descriptor, _found(path, session_id, os.fstat(descriptor)))
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        return None
    except OSError as error:
        try:
            return Row.of(_found(path, session_id, os.stat(path)), Summary(), _fault(error))
        except OSError:
            return None


def _look_at(descriptor: int, found: Found) -> Row:
    if found.size == 0:
        return Row.of(found, Summary(counted=True), EMPTY)
    try:
        if found.size <= SMALL:
            return _fold(descriptor, found, Fold(), 0)[0].packed()
        summary = Summary()
        read_head(descriptor, summary)
        read_tail(descriptor, found.size, summary)
    except (OSError, Changed) as error:
        return Row.of(found, Summary(), _fault(error))
    return Row(found, _pack(summary), False, not summary.is_subagent)


def fold_on(row: Row, kept: bytes | None) -> tuple[Row, bytes | None] | None:
    """The row with every line read: from where it stopped, or anew if the file was rewritten.

    `kept` is what the last fold remembered, packed; and so is what comes back.
    """
    found = look_again(row.found)
    if found is None:
        return None
    if found.is_same_version(row.found):
        # thousands of these are kept: no second copy
        found = row.found
    try:
        with opened(found.path) as descriptor:
            summary = row.summary
            folded = unpack(kept) if kept is not None else None
            # what is remembered may be of an earlier reading than the row
            fits = folded is not None and folded.lines == summary.lines
            # a directory that none of its own lines told was told by what lies beside it
            fits = fits and (summary.main_lines > 0 or not summary.workdir)
            if folded is not None and fits and _only_grown(descriptor, found, folded):
                # the old row may be in somebody's hands: fold into a copy
                summary = msgspec.structs.replace(summary)
                summary.tokens = msgspec.structs.replace(summary.tokens or Tokens())
                return _fold(descriptor, found, Fold(summary, folded), folded.offset)
            return _fold(descriptor, found, Fold(), 0)
    except FileNotFoundError:
        return None
    except (OSError, Changed) as error:
        return Row.of(found, row.summary, _fault(error)), None


def _only_grown(descriptor: int, found: Found, folded: Folded) -> bool:
    """Whether the part that was folded is still what it was."""
    if found.size < folded.offset:
        return False
    return mark_before(descriptor, folded.offset) == folded.mark


def _fold(descriptor: int, found: Found, fold: Fold, start: int) -> tuple[Row, bytes]:
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
    summary, folded = fold.finish(offset, mark_before(descriptor, offset))
    fault = EMPTY if found.size == 0 else ILLEGIBLE if summary.lines == 0 else None
    return Row.of(found, summary, fault), pack(folded)


def _found(path: str, session_id: str, facts: os.stat_result) -> Found:
    return Found(session_id, path, facts.st_ino, facts.st_size, facts.st_mtime_ns)


def _fault(error: Exception) -> Fault:
    reason = (error.strerror if isinstance(error, OSError) else None) or "it keeps changing"
    return Fault("transcript_unreadable", f"The transcript cannot be read: {reason}.")
