"""Session rows: every session's own transcript below `projects/`, and what the list says of it.

A quick scan reads the head and the tail of a file. What needs the whole file (counts, tokens, a
title in the middle) is folded later, from where the last fold ended.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from claudekeeper.analysis.summary import Summary, SummaryFold, pack_state, unpack_state
from claudekeeper.catalog.quick_scan import HEAD_BYTES, read_head, read_tail
from claudekeeper.contract.errors import Fault
from claudekeeper.contract.sessions import Tokens
from claudekeeper.core.paths import is_outside
from claudekeeper.transcripts.cursor import fingerprint_before, has_only_grown
from claudekeeper.transcripts.entries import is_irrelevant, parse_line
from claudekeeper.transcripts.layout import (
    TRANSCRIPT_NAME,
    TranscriptFile,
    session_of_name,
    stat_again,
)
from claudekeeper.transcripts.line_reader import (
    READ_ONLY,
    FileChanged,
    lines_forwards,
    open_readonly,
)

# a file this small is folded at once
SMALL_FILE_BYTES = HEAD_BYTES


EMPTY_FAULT = Fault("transcript_empty", "The transcript is empty.")
UNREADABLE_FAULT = Fault("transcript_unreadable", "No line of the transcript can be read.")


class SessionRow(msgspec.Struct, array_like=True, gc=False):
    """A session of the list. There are thousands, so a summary stays packed until it is needed."""

    file: TranscriptFile
    stored_summary: Summary | bytes
    is_fully_scanned: bool
    is_session: bool
    fault: Fault | None = None
    # the lines that name its working directory cannot be read; others of it may be
    is_lost: bool = False
    # of the summary: filters read it of thousands
    workdir: str | None = None

    @classmethod
    def from_summary(
        cls, file: TranscriptFile, summary: Summary, fault: Fault | None = None
    ) -> SessionRow:
        broken = fault is not None or (summary.unreadable > 0 and not summary.main_lines)
        own = not summary.is_subagent
        is_lost = own and broken
        return cls(file, summary, summary.is_fully_scanned, own, fault, is_lost, summary.workdir)

    @property
    def is_done(self) -> bool:
        """Whether every line was read, or none can be."""
        return self.is_fully_scanned or self.fault is not None

    @property
    def summary(self) -> Summary:
        return (
            _summary_decoder.decode(self.stored_summary)
            if isinstance(self.stored_summary, bytes)
            else self.stored_summary
        )

    def pack(self) -> SessionRow:
        """The same row with its summary packed."""
        if isinstance(self.stored_summary, bytes):
            return self
        return msgspec.structs.replace(self, stored_summary=_pack(self.stored_summary))


_summary_decoder = msgspec.msgpack.Decoder(Summary)
_pack = msgspec.msgpack.Encoder().encode


def split_unchanged(
    folder: str, rows: Mapping[str, SessionRow]
) -> tuple[dict[str, SessionRow], list[TranscriptFile]]:
    """The transcripts of a project: rows that are still right, and new or changed files."""
    same: dict[str, SessionRow] = {}
    others: list[TranscriptFile] = []
    row_at = rows.get
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                path = entry.path
                row = row_at(path)
                if row is None and TRANSCRIPT_NAME.fullmatch(entry.name) is None:
                    continue
                try:
                    facts = entry.stat()
                    if row is not None and row.fault is None:
                        file = row.file
                        if (
                            file.mtime == facts.st_mtime_ns
                            and file.size == facts.st_size
                            and file.inode == facts.st_ino
                        ):
                            same[path] = row
                            continue
                    if entry.is_symlink() and is_outside(entry.path, os.path.dirname(folder)):
                        continue
                except OSError:
                    # it went meanwhile
                    continue
                others.append(TranscriptFile.from_stat(path, session_of_name(entry.name), facts))
    except OSError:
        return {}, []
    return same, others


def are_unchanged(folder: str, rows: Iterable[SessionRow]) -> bool:
    """Whether the files of all these rows of a folder are unchanged on disk."""
    stat = os.stat
    name = len(folder) + 1
    try:
        # relative to the folder: its path is resolved once, not once for each of thousands
        inside = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        for row in rows:
            file = row.file
            facts = stat(file.path[name:], dir_fd=inside)
            if (
                file.mtime != facts.st_mtime_ns
                or file.size != facts.st_size
                or file.inode != facts.st_ino
                or row.fault is not None
            ):
                return False
    except OSError:
        return False
    finally:
        os.close(inside)
    return True


def quick_scan_file(file: TranscriptFile) -> SessionRow | None:
    """A quick scan of one file: its head and tail; None for a file that is gone."""
    try:
        with open_readonly(file.path) as descriptor:
            return _quick_scan_descriptor(descriptor, file)
    except FileNotFoundError:
        return None
    except OSError as error:
        return SessionRow.from_summary(file, Summary(), _fault(error))


def quick_scan_folder(folder: str) -> Iterator[SessionRow]:
    """A quick scan of every transcript in a folder, with one stat less for each file."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if TRANSCRIPT_NAME.fullmatch(entry.name) is None:
                    continue
                if entry.is_symlink() and is_outside(entry.path, os.path.dirname(folder)):
                    continue
                row = _quick_scan_path(entry.path, session_of_name(entry.name))
                if row is not None:
                    yield row
    except OSError:
        return


def _quick_scan_path(path: str, session_id: str) -> SessionRow | None:
    try:
        descriptor = os.open(path, READ_ONLY)
        try:
            facts = os.fstat(descriptor)
            # no further call: there are thousands
            file = TranscriptFile(session_id, path, facts.st_ino, facts.st_size, facts.st_mtime_ns)
            return _quick_scan_descriptor(descriptor, file)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        return None
    except OSError as error:
        try:
            return SessionRow.from_summary(
                TranscriptFile.from_stat(path, session_id, os.stat(path)), Summary(), _fault(error)
            )
        except OSError:
            return None


def _quick_scan_descriptor(descriptor: int, file: TranscriptFile) -> SessionRow:
    if file.size == 0:
        return SessionRow.from_summary(file, Summary(is_fully_scanned=True), EMPTY_FAULT)
    try:
        if file.size <= SMALL_FILE_BYTES:
            return _fold_lines(descriptor, file, SummaryFold(), 0)[0].pack()
        summary = Summary()
        read_head(descriptor, summary)
        read_tail(descriptor, file.size, summary)
    except (OSError, FileChanged) as error:
        return SessionRow.from_summary(file, Summary(), _fault(error))
    return SessionRow(file, _pack(summary), False, not summary.is_subagent, workdir=summary.workdir)


def continue_fold(row: SessionRow, fold: bytes | None) -> tuple[SessionRow, bytes | None] | None:
    """The row with every line read: from where the fold ended, or anew if the file was rewritten.

    `fold` is the packed state of the last fold; the new one is returned.
    """
    file = stat_again(row.file)
    if file is None:
        return None
    if file.is_same_version(row.file):
        # there are thousands: no second copy
        file = row.file
    try:
        with open_readonly(file.path) as descriptor:
            summary = row.summary
            folded = unpack_state(fold) if fold is not None else None
            # the fold may be older than the row
            fits = folded is not None and folded.lines == summary.lines
            # without lines of its own its directory was inferred from other files: read it anew
            fits = fits and (summary.main_lines > 0 or not summary.workdir)
            if (
                folded is not None
                and fits
                and has_only_grown(descriptor, folded.offset, folded.fingerprint)
            ):
                # others may use the old row: fold into a copy
                summary = msgspec.structs.replace(summary)
                summary.tokens = msgspec.structs.replace(summary.tokens or Tokens())
                return _fold_lines(descriptor, file, SummaryFold(summary, folded), folded.offset)
            return _fold_lines(descriptor, file, SummaryFold(), 0)
    except FileNotFoundError:
        return None
    except (OSError, FileChanged) as error:
        return SessionRow.from_summary(file, row.summary, _fault(error)), None


def _fold_lines(
    descriptor: int, file: TranscriptFile, fold: SummaryFold, start: int
) -> tuple[SessionRow, bytes]:
    offset = start
    for at, line, ended in lines_forwards(descriptor, start, file.size):
        if line and not is_irrelevant(line):
            entries, bad = parse_line(line)
            if bad and not ended:
                # stop before a torn line; its writer may still be mid-append
                break
            for entry in entries:
                fold.add(entry)
            fold.summary.unreadable += bad
        elif line:
            fold.summary.lines += 1
        offset = at + len(line) + ended
    summary, state = fold.finish(offset, fingerprint_before(descriptor, offset))
    fault = EMPTY_FAULT if file.size == 0 else UNREADABLE_FAULT if summary.lines == 0 else None
    return SessionRow.from_summary(file, summary, fault), pack_state(state)


def _fault(error: Exception) -> Fault:
    reason = (error.strerror if isinstance(error, OSError) else None) or "it keeps changing"
    return Fault("transcript_unreadable", f"The transcript cannot be read: {reason}.")
