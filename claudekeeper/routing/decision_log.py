"""Why messages went where they did: kept by message, over restarts, in a file of its own.

A line for each, added at the end; the file is written anew when it has grown too long. Of a file
with lines that cannot be read the others hold, and it is kept aside.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections import Counter
from pathlib import Path

import msgspec

from claudekeeper.contract.routing import RoutedMessage
from claudekeeper.core.atomic_files import (
    make_private_folder,
    quarantine,
    read_file,
    remove_temporary_files,
    replace_file,
)
from claudekeeper.core.background_writer import BackgroundWriter
from claudekeeper.core.bounded import BoundedDict

log = logging.getLogger(__name__)

# decisions that are kept, the newest; the file may grow to twice as many
MOST_DECISIONS = 1_000

_decoder = msgspec.json.Decoder(RoutedMessage)


class RoutingLog:
    """The decisions by the uuid of their message."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._decisions: BoundedDict[str, RoutedMessage] = BoundedDict(MOST_DECISIONS)
        self._line_count = 0
        self._unwritten: list[RoutedMessage] = []
        self._writer = BackgroundWriter(self._write, name="routing:write")
        self.wait_until_saved = self._writer.wait_until_saved
        # since the start: by action and scorer, and where the person chose otherwise
        self.decision_counts: Counter[tuple[str, str]] = Counter()
        self.overruled_count = 0

    def load(self) -> None:
        """Blocks. What cannot be read is passed over, and said so."""
        remove_temporary_files(self._path)
        try:
            content = read_file(self._path)
        except FileNotFoundError:
            return
        except OSError as error:
            if self._path.is_file():
                log.warning("%s cannot be read (%s)", self._path, error.strerror)
                return
            aside = quarantine(self._path)
            log.warning("%s is no file: kept as %s, begun anew", self._path, aside)
            return
        bad = 0
        for line in content.splitlines():
            try:
                routed = _decoder.decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError):
                bad += 1
                continue
            self._put(routed)
            self._line_count += 1
        if bad:
            aside = quarantine(self._path)
            log.warning(
                "%s is corrupt (%d lines): kept as %s; the other lines hold", self._path, bad, aside
            )
            try:
                self._rewrite()
            except OSError as error:
                log.warning("%s could not be written: %s", self._path, error)

    def get(self, uuid: str) -> RoutedMessage | None:
        return self._decisions.get(uuid)

    def of_session(self, session_id: str) -> list[RoutedMessage]:
        """Of messages of this session, the oldest first."""
        return [each for each in self._decisions.values() if each.session_id == session_id]

    def add(self, routed: RoutedMessage) -> None:
        """Holds at once; it is on disk a moment later."""
        self.decision_counts[routed.routing.action, routed.routing.scorer] += 1
        self.overruled_count += not routed.followed
        self._put(routed)
        self._unwritten.append(routed)
        self._writer.schedule()

    def _put(self, routed: RoutedMessage) -> None:
        self._decisions[routed.uuid] = routed

    async def _write(self) -> None:
        new, self._unwritten = self._unwritten, []
        try:
            if self._line_count + len(new) > 2 * MOST_DECISIONS:
                await asyncio.to_thread(self._rewrite)
            else:
                added = b"".join(msgspec.json.encode(each) + b"\n" for each in new)
                await asyncio.to_thread(_append, self._path, added)
                self._line_count += len(new)
        except OSError as error:
            # the message went its way all the same
            log.warning("why a message went its way could not be saved: %s", error)

    def _rewrite(self) -> None:
        lines = [msgspec.json.encode(each) + b"\n" for each in dict(self._decisions).values()]
        replace_file(self._path, b"".join(lines))
        self._line_count = len(lines)


def _append(path: Path, added: bytes) -> None:
    make_private_folder(path.parent)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        os.fchmod(descriptor, 0o600)
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            # a writer that was killed left half a line
            added = b"\n" + added
        while added:
            added = added[os.write(descriptor, added) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
