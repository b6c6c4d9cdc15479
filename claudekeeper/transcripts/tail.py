"""New lines of a file that grows, from a known offset."""

from __future__ import annotations

import os
import stat
from typing import Literal

import msgspec

from claudekeeper.core.timestamps import iso_from_ns
from claudekeeper.transcripts.cursor import fingerprint_before, has_only_grown, is_mid_line
from claudekeeper.transcripts.entries import (
    Entry,
    is_irrelevant,
    parse_line,
    parse_objects,
    parse_ordinary,
)
from claudekeeper.transcripts.line_reader import (
    FileChanged,
    lines_backwards,
    lines_forwards,
    open_readonly,
)
from claudekeeper.transcripts.messages import uuid_of

# more than this at once is a resync instead of single messages, and so are more entries
MAX_GROWTH_BYTES = 32 * 1024 * 1024
MAX_ENTRIES = 2_000
# or more bytes in several entries: all at once, they would disconnect slow clients
MAX_CONTENT_BYTES = 2 * 1024 * 1024
# bytes in which the parents of new lines are looked for
LOOKBACK_BYTES = 64 * 1024
# nanoseconds between the time in a line and its writing: twice is better than never
CLOCK_SLACK_NS = 2_000_000_000

TailChange = Literal["grown", "same", "rewritten", "gone", "flood"]


class Tail(msgspec.Struct, frozen=True, gc=False):
    """How far a file was read, and the bytes before that, once they were read."""

    path: str
    # 0: whichever file has that name
    inode: int = 0
    offset: int = 0
    fingerprint: bytes | None = None
    # whether its last lines were read on the way
    is_primed: bool = False


class Growth(msgspec.Struct, gc=False):
    """What became of a file since its tail was taken."""

    change: TailChange
    tail: Tail
    entries: list[Entry] = []
    # with the first growth: lines that stood there before, the oldest first
    earlier_entries: list[Entry] = []
    # the offset lies within a line: that one was torn then, or all is new
    is_uncertain: bool = False


def read_growth(tail: Tail) -> Growth:
    """The new lines; a torn line waits until it is whole. Blocks: call it in a thread."""
    try:
        with open_readonly(tail.path) as descriptor:
            return _read_new(descriptor, tail)
    except OSError:
        return Growth("gone", tail)
    except FileChanged:
        # cut short while it was read: the next call reads what it became
        return Growth("rewritten", Tail(tail.path))


def tail_at_end(path: str, since: int | None = None) -> Tail:
    """A tail at the end of a file; with `since`, at its end at that moment. Blocks."""
    try:
        with open_readonly(path) as descriptor:
            facts = os.fstat(descriptor)
            end = facts.st_size
            if since is not None and facts.st_mtime_ns >= since:
                end = _offset_since(descriptor, end, since)
            return Tail(path, facts.st_ino, end)
    except (OSError, FileChanged):
        return Tail(path)


def read_last_entries(path: str) -> list[Entry]:
    """The lines near the end, the oldest first. Blocks: call it in a thread."""
    try:
        with open_readonly(path) as descriptor:
            return _read_earlier(descriptor, os.fstat(descriptor).st_size)
    except (OSError, FileChanged):
        return []


def _read_new(descriptor: int, tail: Tail) -> Growth:
    facts = os.fstat(descriptor)
    if not stat.S_ISREG(facts.st_mode):
        return Growth("gone", tail)
    if not has_only_grown(descriptor, tail.offset, tail.fingerprint, tail.inode):
        return Growth("rewritten", _tail_behind_all(descriptor, facts, tail.path))
    if facts.st_size - tail.offset > MAX_GROWTH_BYTES:
        return Growth("flood", _tail_behind_all(descriptor, facts, tail.path))
    earlier: list[Entry] = []
    half_read: list[Entry] = []
    start = tail.offset
    if not tail.is_primed:
        start = _line_start(descriptor, tail.offset)
        # one file in five ends without a newline; its last line was read already
        half_read = parse_line(os.pread(descriptor, tail.offset - start, start))[0]
        earlier = [*_read_earlier(descriptor, start), *half_read]
    read_uuids = {uuid_of(entry) for entry in half_read}
    entries: list[Entry] = []
    content_bytes = 0
    offset = start
    for at, line, ended in lines_forwards(descriptor, start, facts.st_size):
        if not ended and not _is_complete_line(line):
            # its writer may still be mid-append
            break
        if line and not is_irrelevant(line):
            new = [entry for entry in parse_line(line)[0] if uuid_of(entry) not in read_uuids]
            entries += new
            content_bytes += sum(memoryview(entry.message.content).nbytes for entry in new)
            if len(entries) > MAX_ENTRIES or (
                content_bytes > MAX_CONTENT_BYTES and len(entries) > 1
            ):
                return Growth("flood", _tail_behind_all(descriptor, facts, tail.path))
        read_uuids.clear()
        # more on the same line is read from there
        offset = at + len(line) + ended
    # within a line that is still being written, the first offset stays
    begun = tail.is_primed or offset >= tail.offset
    offset = offset if begun else tail.offset
    reached = Tail(tail.path, facts.st_ino, offset, fingerprint_before(descriptor, offset), begun)
    unsure = tail.fingerprint is None and is_mid_line(descriptor, tail.offset)
    return Growth("grown" if entries else "same", reached, entries, earlier, unsure)


def _is_complete_line(line: bytes) -> bool:
    """Whether a line without a newline is complete."""
    # most incomplete ones are recognised by their last byte
    return line.endswith((b"}", b"\0")) and (
        parse_ordinary(line) is not None or parse_objects(line)[1] == 0
    )


def _tail_behind_all(descriptor: int, facts: os.stat_result, path: str) -> Tail:
    """A tail at the end of the file; its last line need not be whole."""
    end = facts.st_size
    return Tail(path, facts.st_ino, end, fingerprint_before(descriptor, end))


def _offset_since(descriptor: int, end: int, since: int) -> int:
    """Where the lines after that moment begin, by their own times."""
    moment = iso_from_ns(since - CLOCK_SLACK_NS)
    start = end
    for at, line in lines_backwards(descriptor, end):
        times = [entry.timestamp for entry in parse_line(line)[0] if entry.timestamp is not None]
        if times and max(times) < moment:
            break
        start = at
    return start


def _line_start(descriptor: int, offset: int) -> int:
    """The start of the line at an offset, which may lie within a line that was being written."""
    if offset == 0 or os.pread(descriptor, 1, offset - 1) == b"\n":
        return offset
    for at, _ in lines_backwards(descriptor, offset):
        return at
    return 0


def _read_earlier(descriptor: int, offset: int) -> list[Entry]:
    entries: list[Entry] = []
    for at, line in lines_backwards(descriptor, offset):
        if not is_irrelevant(line):
            entries += reversed(parse_line(line)[0])
        if offset - at > LOOKBACK_BYTES:
            break
    entries.reverse()
    return entries
