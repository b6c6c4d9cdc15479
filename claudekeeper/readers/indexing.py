"""Transcripts → the index of words: what is new, in batches, each of which counts or does not.

The state of every file stands in the index beside its words, written in the same transaction. So
a killed writer goes on after its last batch, and of two writers only one counts.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from claudekeeper.model.entries import Entry, Piece, parse, parse_whole, pieces, told_nothing
from claudekeeper.model.links import shown_as
from claudekeeper.model.messages import role_of
from claudekeeper.model.plaintext import parts_of, said_in
from claudekeeper.readers.discovery import SUFFIX, project_folders, transcripts
from claudekeeper.readers.lines import Changed, forwards, mark_before, opened
from claudekeeper.readers.paths import is_session_id
from claudekeeper.readers.search_index import (
    KINDS,
    Reading,
    Said,
    Source,
    source_of,
    sources,
    spaced,
    workdir_tag,
    write,
)
from claudekeeper.readers.subagents import agent_of, files_below, session_of

# characters of words, and bytes of transcripts, that are written in one piece
BATCH = 12_000_000
BATCH_BYTES = 64_000_000
# where the working directory of a session is looked for
HEAD = 64 * 1024
# milliseconds: what says it was said before or after these was not
EARLIEST, LATEST = 0, 4_102_444_800_000
# project/session.jsonl, below the projects folder
SESSION_DEPTH = 2


class Transcript(msgspec.Struct, frozen=True, gc=False):
    """A file with messages: a session's own, or that of one of its subagents."""

    path: str
    session: str
    agent: str | None = None


class Stale(msgspec.Struct, gc=False):
    """A transcript that the index does not have as it is; `size` is what there is to read."""

    transcript: Transcript
    size: int
    time: int


class Backlog(msgspec.Struct, gc=False):
    """What the index does not have, the newest first; how much that is, and how much there is."""

    stale: list[Stale]
    gone: list[Source]
    total: int
    size: int = 0


# ---- which files there are ----


def all_transcripts(roots: Iterable[Path]) -> Iterator[Transcript]:
    """Every transcript below these folders, which are laid out like Claude Code's `projects`."""
    for root in roots:
        for folder in project_folders(root):
            for found in transcripts(folder):
                yield Transcript(found.path, found.id)
                yield from subagents_of(found.path, found.id)
            yield from _beside(folder)


def subagents_of(path: str, session: str) -> Iterator[Transcript]:
    """The transcripts in a session's own folder."""
    below = path.removesuffix(SUFFIX)
    if os.path.isdir(below):
        for nested in files_below(below):
            yield Transcript(nested, session, agent_of(os.path.basename(nested)))


def recognised(path: str, roots: Iterable[Path]) -> Transcript | None:
    """The transcript that a path names, if it is one; by its name alone."""
    for root in roots:
        parts = Path(path).parts
        if parts[: len(root.parts)] != root.parts or not path.endswith(SUFFIX):
            continue
        inside = parts[len(root.parts) :]
        session = inside[1].removesuffix(SUFFIX) if len(inside) >= SESSION_DEPTH else ""
        if len(inside) == SESSION_DEPTH and is_session_id(session):
            return Transcript(path, session.lower())
        agent = agent_of(inside[-1]) if inside else None
        if agent is None or len(inside) < SESSION_DEPTH:
            return None
        if len(inside) == SESSION_DEPTH:
            of = session_of(Path(path))
            return Transcript(path, of.lower(), agent) if of and is_session_id(of) else None
        return Transcript(path, session.lower(), agent) if is_session_id(session) else None
    return None


def _beside(folder: str) -> Iterator[Transcript]:
    """Subagents of versions that put them beside the sessions."""
    try:
        names = [name for name in os.listdir(folder) if agent_of(name)]
    except OSError:
        return
    for name in names:
        path = os.path.join(folder, name)
        session = None if os.path.islink(path) else session_of(Path(path))
        if session and is_session_id(session):
            yield Transcript(path, session.lower(), agent_of(name))


# ---- what is to be read ----


def backlog(
    database: sqlite3.Connection, roots: Iterable[Path], most: int | None = None
) -> Backlog:
    """Everything that the index does not have as it is on disk.

    What is stale is named only as far as `most` bytes go, where that is said: there may be many
    thousands, and whoever cannot read them all need not know which they are.
    """
    roots = list(roots)
    found = Backlog([], [], 0)
    for transcript in all_transcripts(roots):
        try:
            facts = os.stat(transcript.path)
        except OSError:
            continue
        found.total += facts.st_size
        size = _pending(facts, source_of(database, transcript.path))
        found.size += size
        if size and (most is None or found.size <= most):
            found.stale.append(Stale(transcript, size, facts.st_mtime_ns))
    found.stale.sort(key=lambda each: each.time, reverse=True)
    found.gone += [source for source in sources(database) if not _is_there(source.path, roots)]
    return found


def _is_there(path: str, roots: list[Path]) -> bool:
    if not any(path.startswith(f"{root}/") for root in roots):
        return False
    return os.path.isfile(path) and not os.path.islink(path)


def pending(database: sqlite3.Connection, transcripts: Iterable[Transcript]) -> int:
    """How many bytes of these the index does not have."""
    size = 0
    for transcript in transcripts:
        with contextlib.suppress(OSError):
            size += _pending(os.stat(transcript.path), source_of(database, transcript.path))
    return size


def _pending(facts: os.stat_result, known: Source | None) -> int:
    if known is None or known.inode != facts.st_ino or known.offset > facts.st_size:
        return facts.st_size
    return facts.st_size - known.offset


def work_off(database: sqlite3.Connection, transcripts: Iterable[Transcript]) -> Iterator[int]:
    """Read these to their ends; yields how many bytes, batch by batch, were taken in."""
    workdirs: dict[str, str | None] = {}
    batch: list[Reading] = []
    words = size = 0
    for transcript in transcripts:
        known = source_of(database, transcript.path)
        while True:
            reading, taken = read_on(transcript, known, workdirs)
            if reading is not None:
                batch.append(reading)
                words += sum(len(said.text) for said in reading.said)
            size += taken
            whole = reading is None or words < BATCH
            if words >= BATCH or size >= BATCH_BYTES:
                write(database, batch)
                yield size
                batch, words, size = [], 0, 0
            if whole:
                break
            known = source_of(database, transcript.path)
    if batch:
        write(database, batch)
    yield size


def read_on(
    transcript: Transcript, known: Source | None, workdirs: dict[str, str | None]
) -> tuple[Reading | None, int]:
    """What a file says beyond what is known of it, and how many bytes that is.

    At most a batch of it; None where there is nothing new.
    """
    try:
        with opened(transcript.path) as descriptor:
            return _read_on(descriptor, transcript, known, workdirs)
    except (OSError, Changed):
        # gone, or cut short while it was read: the next look tells
        return (Reading(known, None, []) if known is not None else None), 0


def _read_on(
    descriptor: int,
    transcript: Transcript,
    known: Source | None,
    workdirs: dict[str, str | None],
) -> tuple[Reading | None, int]:
    facts = os.fstat(descriptor)
    if not stat.S_ISREG(facts.st_mode):
        return None, 0
    grown = known is not None and _only_grew(descriptor, facts, known)
    if known is not None and grown:
        now = msgspec.structs.replace(known)
    else:
        workdir = _workdir(transcript, workdirs)
        now = Source(transcript.path, transcript.session, transcript.agent, workdir, facts.st_ino)
    start = now.offset
    if start == facts.st_size and grown:
        return None, 0
    said: list[Said] = []
    words = 0
    time = now.time or facts.st_mtime_ns // 1_000_000
    for at, line, ended in forwards(descriptor, start, facts.st_size):
        if line and not told_nothing(line):
            whole = parse_whole(line)
            found, bad = ([Piece(0, len(line), whole)], 0) if whole else pieces(line)
            if bad and not ended:
                # stop before a torn line; its writer may still be mid-append
                break
            for begin, end, entry in found:
                time = moment_of(entry.timestamp) or time
                now.workdir = now.workdir or entry.cwd
                # of several on a line each has a place of its own: found again by its own bytes
                part = (begin, end) != (0, len(line))
                nested = now.agent is not None
                one = _said(entry, time, at + begin, end - begin, part=part, nested=nested)
                if one is not None:
                    said.append(one)
                    words += len(one.text)
        now.offset = at + len(line) + ended
        if words >= BATCH:
            break
    if grown and now.offset == start:
        return None, 0
    now.time = time
    now.mark = mark_before(descriptor, now.offset)
    for one in said:
        one.tags += f" {workdir_tag(now.workdir)}" if now.workdir else ""
    return Reading(known, now, said), now.offset - start


def _said(
    entry: Entry, time: int, offset: int, length: int, *, part: bool, nested: bool
) -> Said | None:
    kind = shown_as(entry, nested=nested)
    if kind is None:
        return None
    parts = parts_of(entry, kind)
    tags = f"k{kind.lower()} r{role_of(entry, kind)}"
    if any(each.decides for each in parts):
        tags += " decision"
    text = spaced(said_in(parts))
    return Said(time, offset, length, part, KINDS.index(kind), text, tags)


def _only_grew(descriptor: int, facts: os.stat_result, known: Source) -> bool:
    """Whether the part that was read is still what it was."""
    if known.inode != facts.st_ino or facts.st_size < known.offset:
        return False
    if mark_before(descriptor, known.offset) != known.mark:
        return False
    # a line that had no end yet, and that went on, is another line now
    ended = known.mark[-1:] in (b"", b"\n")
    return ended or os.pread(descriptor, 1, known.offset) in (b"", b"\n")


def moment_of(timestamp: str | None) -> int | None:
    """Milliseconds since 1970; None for what is no time."""
    if timestamp is None:
        return None
    try:
        moment = datetime.fromisoformat(timestamp)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return min(max(int(moment.timestamp() * 1000), EARLIEST), LATEST)
    except (ValueError, OverflowError):
        return None


def _workdir(transcript: Transcript, workdirs: dict[str, str | None]) -> str | None:
    """Of a subagent: that of its session, which is where it is looked for."""
    if transcript.agent is None:
        return None
    folder = os.path.dirname(transcript.path)
    while os.path.basename(folder).lower() != transcript.session and "/" in folder.strip("/"):
        folder = os.path.dirname(folder)
    main = folder + SUFFIX
    if not os.path.exists(main):
        main = os.path.join(os.path.dirname(transcript.path), transcript.session + SUFFIX)
    if main not in workdirs:
        workdirs[main] = _first_workdir(main)
    return workdirs[main]


def _first_workdir(path: str) -> str | None:
    try:
        with opened(path) as descriptor:
            size = os.fstat(descriptor).st_size
            for at, line, _ in forwards(descriptor, 0, size):
                for entry in parse(line)[0]:
                    if entry.cwd:
                        return entry.cwd
                if at > HEAD:
                    break
    except (OSError, Changed):
        pass
    return None
