"""Reads new lines of transcripts into the index of words, in batches.

The state of every file is in the index too, written in the same transaction as its words. So a
killed writer goes on after its last batch, and of two writers only one counts.
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

from claudekeeper.analysis.plain_text import join_parts, parts_of
from claudekeeper.search.query import space_words
from claudekeeper.search.store import (
    KINDS,
    IndexedMessage,
    IndexSource,
    IndexUpdate,
    source_of,
    sources,
    workdir_tag,
    write_updates,
)
from claudekeeper.transcripts.cursor import fingerprint_before, has_only_grown, is_mid_line
from claudekeeper.transcripts.entries import (
    Entry,
    ObjectSpan,
    is_irrelevant,
    parse_line,
    parse_objects,
    parse_ordinary,
)
from claudekeeper.transcripts.layout import TranscriptPath, all_transcripts, main_transcript_of
from claudekeeper.transcripts.line_reader import (
    FileChanged,
    lines_forwards,
    open_readonly,
)
from claudekeeper.transcripts.message_link import kind_in_history
from claudekeeper.transcripts.messages import role_of

# characters of text, and bytes of transcripts, that are written in one transaction
BATCH_CHARACTERS = 12_000_000
BATCH_BYTES = 64_000_000
# where the working directory of a session is looked for
HEAD_BYTES = 64 * 1024
# milliseconds: times outside of these are wrong
EARLIEST, LATEST = 0, 4_102_444_800_000


class StaleSource(msgspec.Struct, gc=False):
    """A transcript that the index does not have as it is; `size` is what there is to read."""

    transcript: TranscriptPath
    size: int
    time: int


class IndexBacklog(msgspec.Struct, gc=False):
    """What the index does not have, the newest first; how many bytes that is, and of how many."""

    stale: list[StaleSource]
    deleted: list[IndexSource]
    total: int
    size: int = 0


# ---- what is to be read ----


def find_backlog(
    database: sqlite3.Connection, roots: Iterable[Path], max_bytes: int | None = None
) -> IndexBacklog:
    """Everything that the index does not have as it is on disk.

    With `max_bytes` only so many bytes of stale files are listed: there may be many thousands, and
    the caller does not need them all.
    """
    roots = list(roots)
    backlog = IndexBacklog([], [], 0)
    for transcript in all_transcripts(roots):
        try:
            facts = os.stat(transcript.path)
        except OSError:
            continue
        backlog.total += facts.st_size
        size = _pending_bytes_of(facts, source_of(database, transcript.path))
        backlog.size += size
        if size and (max_bytes is None or backlog.size <= max_bytes):
            backlog.stale.append(StaleSource(transcript, size, facts.st_mtime_ns))
    backlog.stale.sort(key=lambda each: each.time, reverse=True)
    backlog.deleted += [source for source in sources(database) if not _exists(source.path, roots)]
    return backlog


def _exists(path: str, roots: list[Path]) -> bool:
    if not any(path.startswith(f"{root}/") for root in roots):
        return False
    return os.path.isfile(path) and not os.path.islink(path)


def pending_bytes(database: sqlite3.Connection, transcripts: Iterable[TranscriptPath]) -> int:
    """How many bytes of these the index does not have."""
    size = 0
    for transcript in transcripts:
        with contextlib.suppress(OSError):
            size += _pending_bytes_of(
                os.stat(transcript.path), source_of(database, transcript.path)
            )
    return size


def _pending_bytes_of(facts: os.stat_result, source: IndexSource | None) -> int:
    if source is None or source.inode != facts.st_ino or source.offset > facts.st_size:
        return facts.st_size
    return facts.st_size - source.offset


def index_transcripts(
    database: sqlite3.Connection, transcripts: Iterable[TranscriptPath]
) -> Iterator[int]:
    """Read these to their ends; yields after each batch how many bytes were indexed."""
    workdirs: dict[str, str | None] = {}
    batch: list[IndexUpdate] = []
    words = size = 0
    for transcript in transcripts:
        source = source_of(database, transcript.path)
        while True:
            update, new_bytes = read_update(transcript, source, workdirs)
            if update is not None:
                batch.append(update)
                words += sum(len(message.text) for message in update.messages)
            size += new_bytes
            is_complete = update is None or words < BATCH_CHARACTERS
            if words >= BATCH_CHARACTERS or size >= BATCH_BYTES:
                write_updates(database, batch)
                yield size
                batch, words, size = [], 0, 0
            if is_complete:
                break
            source = source_of(database, transcript.path)
    if batch:
        write_updates(database, batch)
    yield size


def read_update(
    transcript: TranscriptPath, source: IndexSource | None, workdirs: dict[str, str | None]
) -> tuple[IndexUpdate | None, int]:
    """What is new in a file, at most a batch, and how many bytes that is; None: nothing is new."""
    try:
        with open_readonly(transcript.path) as descriptor:
            return _read_update(descriptor, transcript, source, workdirs)
    except (OSError, FileChanged):
        # gone, or cut short while it was read: the next check sees it
        return (IndexUpdate(source, None, []) if source is not None else None), 0


def _read_update(
    descriptor: int,
    transcript: TranscriptPath,
    source: IndexSource | None,
    workdirs: dict[str, str | None],
) -> tuple[IndexUpdate | None, int]:
    facts = os.fstat(descriptor)
    if not stat.S_ISREG(facts.st_mode):
        return None, 0
    grown = (
        source is not None
        and has_only_grown(descriptor, source.offset, source.fingerprint, source.inode)
        # a line that had no end yet, and that went on, is another line now
        and not is_mid_line(descriptor, source.offset)
    )
    if source is not None and grown:
        now = msgspec.structs.replace(source)
    else:
        workdir = _workdir_of(transcript, workdirs)
        now = IndexSource(
            transcript.path, transcript.session, transcript.agent, workdir, facts.st_ino
        )
    start = now.offset
    if start == facts.st_size and grown:
        return None, 0
    messages: list[IndexedMessage] = []
    words = 0
    time = now.time or facts.st_mtime_ns // 1_000_000
    for at, line, ended in lines_forwards(descriptor, start, facts.st_size):
        if line and not is_irrelevant(line):
            whole = parse_ordinary(line)
            spans, bad = ([ObjectSpan(0, len(line), whole)], 0) if whole else parse_objects(line)
            if bad and not ended:
                # stop before a torn line; its writer may still be mid-append
                break
            for begin, end, entry in spans:
                time = milliseconds_of(entry.timestamp) or time
                now.workdir = now.workdir or entry.cwd
                # of several objects on a line each has its own offset and length
                part = (begin, end) != (0, len(line))
                nested = now.agent is not None
                message = _indexed_message(
                    entry, time, at + begin, end - begin, part=part, nested=nested
                )
                if message is not None:
                    messages.append(message)
                    words += len(message.text)
        now.offset = at + len(line) + ended
        if words >= BATCH_CHARACTERS:
            break
    if grown and now.offset == start:
        return None, 0
    now.time = time
    now.fingerprint = fingerprint_before(descriptor, now.offset)
    for message in messages:
        message.tags += f" {workdir_tag(now.workdir)}" if now.workdir else ""
    return IndexUpdate(source, now, messages), now.offset - start


def _indexed_message(
    entry: Entry, time: int, offset: int, length: int, *, part: bool, nested: bool
) -> IndexedMessage | None:
    kind = kind_in_history(entry, nested=nested)
    if kind is None:
        return None
    parts = parts_of(entry, kind)
    tags = f"k{kind.lower()} r{role_of(entry, kind)}"
    if any(each.is_decision for each in parts):
        tags += " decision"
    text = space_words(join_parts(parts))
    return IndexedMessage(time, offset, length, part, KINDS.index(kind), text, tags)


def milliseconds_of(timestamp: str | None) -> int | None:
    """Milliseconds since 1970; None for text that is no time."""
    if timestamp is None:
        return None
    try:
        moment = datetime.fromisoformat(timestamp)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return min(max(int(moment.timestamp() * 1000), EARLIEST), LATEST)
    except (ValueError, OverflowError):
        return None


def _workdir_of(transcript: TranscriptPath, workdirs: dict[str, str | None]) -> str | None:
    """The working directory of a subagent is that of its session."""
    if transcript.agent is None:
        return None
    main = main_transcript_of(transcript)
    if main not in workdirs:
        workdirs[main] = _first_workdir(main)
    return workdirs[main]


def _first_workdir(path: str) -> str | None:
    try:
        with open_readonly(path) as descriptor:
            size = os.fstat(descriptor).st_size
            for at, line, _ in lines_forwards(descriptor, 0, size):
                for entry in parse_line(line)[0]:
                    if entry.cwd:
                        return entry.cwd
                if at > HEAD_BYTES:
                    break
    except (OSError, FileChanged):
        pass
    return None
