"""A file that grows: from a known place to its whole new lines."""

from __future__ import annotations

import os
import stat
from typing import Literal

import msgspec

from claudekeeper.model.entries import Entry, parse, parse_whole, pieces, told_nothing
from claudekeeper.model.messages import identity_of
from claudekeeper.model.sessions import iso
from claudekeeper.readers.lines import Changed, backwards, forwards, mark_before, opened

# more than this at once is read again rather than told, and so are more entries than CROWD
FLOOD = 32 * 1024 * 1024
CROWD = 2_000
# or more bytes of theirs, unless it is one: all at once, they would cut off those who do read
MUCH = 2 * 1024 * 1024
# how far back it is looked for what new lines may hang on
RECENT = 64 * 1024
# nanoseconds from the time that a line says to its writing: told twice is better than not told
SLACK = 2_000_000_000

Fate = Literal["grown", "same", "rewritten", "gone", "flood"]


class Tail(msgspec.Struct, frozen=True, gc=False):
    """How far a file is known; `mark` is what stands before that, once it was looked at."""

    path: str
    # 0: whichever file has that name
    inode: int = 0
    offset: int = 0
    mark: bytes | None = None
    # whether its last lines were read on the way
    begun: bool = False


class Growth(msgspec.Struct, gc=False):
    """What became of a file since its tail was taken."""

    fate: Fate
    tail: Tail
    entries: list[Entry] = []
    # at the first reading: lines that stood there before, the oldest first
    earlier: list[Entry] = []
    # the place where it was known to end lies within a line: one was torn then, or all is new
    unsure: bool = False


def grow(tail: Tail) -> Growth:
    """What was added; a torn line waits until it is whole. Blocks: call it in a thread."""
    try:
        with opened(tail.path) as descriptor:
            return _read(descriptor, tail)
    except OSError:
        return Growth("gone", tail)
    except Changed:
        # cut short while it was read: the next look tells what became of it
        return Growth("rewritten", Tail(tail.path))


def at_end(path: str, since: int | None = None) -> Tail:
    """A tail behind everything that stands there; with `since`, that stood there then. Blocks."""
    try:
        with opened(path) as descriptor:
            facts = os.fstat(descriptor)
            end = facts.st_size
            if since is not None and facts.st_mtime_ns >= since:
                end = _said_since(descriptor, end, since)
            return Tail(path, facts.st_ino, end)
    except (OSError, Changed):
        return Tail(path)


def last_lines(path: str) -> list[Entry]:
    """The lines near the end, the oldest first. Blocks: call it in a thread."""
    try:
        with opened(path) as descriptor:
            return _earlier(descriptor, os.fstat(descriptor).st_size)
    except (OSError, Changed):
        return []


def _read(descriptor: int, tail: Tail) -> Growth:
    facts = os.fstat(descriptor)
    if not stat.S_ISREG(facts.st_mode):
        return Growth("gone", tail)
    if _is_another(descriptor, facts, tail):
        return Growth("rewritten", _end(descriptor, facts, tail.path))
    if facts.st_size - tail.offset > FLOOD:
        return Growth("flood", _end(descriptor, facts, tail.path))
    earlier: list[Entry] = []
    known: list[Entry] = []
    start = tail.offset
    if not tail.begun:
        start = _line_start(descriptor, tail.offset)
        # one file in five ends without a newline: whoever read it has what stood there
        known = parse(os.pread(descriptor, tail.offset - start, start))[0]
        earlier = [*_earlier(descriptor, start), *known]
    told = {identity_of(entry) for entry in known}
    entries: list[Entry] = []
    said = 0
    offset = start
    for at, line, ended in forwards(descriptor, start, facts.st_size):
        if not ended and not _is_whole(line):
            # its writer may still be mid-append
            break
        if line and not told_nothing(line):
            found = [entry for entry in parse(line)[0] if identity_of(entry) not in told]
            entries += found
            said += sum(memoryview(entry.message.content).nbytes for entry in found)
            if len(entries) > CROWD or (said > MUCH and len(entries) > 1):
                return Growth("flood", _end(descriptor, facts, tail.path))
        told.clear()
        # what follows on the same line is read from there
        offset = at + len(line) + ended
    # within a line that is still being written, what stood there is known by the first place
    begun = tail.begun or offset >= tail.offset
    offset = offset if begun else tail.offset
    reached = Tail(tail.path, facts.st_ino, offset, mark_before(descriptor, offset), begun)
    unsure = tail.mark is None and _is_within_a_line(descriptor, tail.offset)
    return Growth("grown" if entries else "same", reached, entries, earlier, unsure)


def _is_whole(line: bytes) -> bool:
    """Whether a line that no newline ends has all that it says."""
    # most that have not are recognised without a close look
    return line.endswith((b"}", b"\0")) and (parse_whole(line) is not None or pieces(line)[1] == 0)


def _is_another(descriptor: int, facts: os.stat_result, tail: Tail) -> bool:
    """Whether what was known of the file does not stand there any more."""
    if tail.inode not in (0, facts.st_ino) or facts.st_size < tail.offset:
        return True
    return tail.mark is not None and mark_before(descriptor, tail.offset) != tail.mark


def _is_within_a_line(descriptor: int, offset: int) -> bool:
    around = os.pread(descriptor, 2, offset - 1) if offset else b""
    return len(around) == 2 and b"\n" not in around


def _end(descriptor: int, facts: os.stat_result, path: str) -> Tail:
    """Behind all that stands there, which is read anew; its last line need not be whole."""
    end = facts.st_size
    return Tail(path, facts.st_ino, end, mark_before(descriptor, end))


def _said_since(descriptor: int, end: int, since: int) -> int:
    """Where the lines of after that moment begin, by what they say themselves."""
    moment = iso(since - SLACK)
    start = end
    for at, line in backwards(descriptor, end):
        times = [entry.timestamp for entry in parse(line)[0] if entry.timestamp is not None]
        if times and max(times) < moment:
            break
        start = at
    return start


def _line_start(descriptor: int, offset: int) -> int:
    """The place may lie within a line, if its writer was in the middle of one."""
    if offset == 0 or os.pread(descriptor, 1, offset - 1) == b"\n":
        return offset
    for at, _ in backwards(descriptor, offset):
        return at
    return 0


def _earlier(descriptor: int, offset: int) -> list[Entry]:
    found: list[Entry] = []
    for at, line in backwards(descriptor, offset):
        if not told_nothing(line):
            found += reversed(parse(line)[0])
        if offset - at > RECENT:
            break
    found.reverse()
    return found
