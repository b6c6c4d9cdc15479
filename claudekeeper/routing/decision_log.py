"""The log of routing decisions: why each message went where it did, over restarts.

A file with a line for each decision. It is rewritten when it has grown too long. A file with lines
that cannot be read is set aside; its other lines count.
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

# the newest are kept; the file may grow to twice as many
MAX_DECISIONS = 1_000

_decoder = msgspec.json.Decoder(RoutedMessage)


class RoutingLog:
    """The decisions, by the uuid of their message."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._decisions: BoundedDict[str, RoutedMessage] = BoundedDict(MAX_DECISIONS)
        self._line_count = 0
        self._unwritten: list[RoutedMessage] = []
        self._writer = BackgroundWriter(self._write, name="routing:write")
        self.wait_until_saved = self._writer.wait_until_saved
        # since the start: by action and scorer, and where the person chose otherwise
        self.decision_counts: Counter[tuple[str, str]] = Counter()
        self.overruled_count = 0

    def load(self) -> None:
        """Read the file. What cannot be read is skipped and logged. Blocks."""
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
            log.warning("%s is not a file: moved to %s; a new one is begun", self._path, aside)
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
                "%s is corrupt (%d lines): moved to %s; the other lines count",
                self._path,
                bad,
                aside,
            )
            try:
                self._rewrite()
            except OSError as error:
                log.warning("%s could not be written: %s", self._path, error)

    def get(self, uuid: str) -> RoutedMessage | None:
        return self._decisions.get(uuid)

    def of_session(self, session_id: str) -> list[RoutedMessage]:
        """The decisions of a session, oldest first."""
        return [each for each in self._decisions.values() if each.session_id == session_id]

    def add(self, routed: RoutedMessage) -> None:
        """Add a decision. It counts at once, and is on disk a moment later."""
        self.decision_counts[routed.routing.action, routed.routing.scorer] += 1
        self.overruled_count += not routed.followed
        self._put(routed)
        self._unwritten.append(routed)
        self._writer.schedule()

    def _put(self, routed: RoutedMessage) -> None:
        self._decisions[routed.uuid] = routed

    async def _write(self) -> None:
        decisions, self._unwritten = self._unwritten, []
        try:
            if self._line_count + len(decisions) > 2 * MAX_DECISIONS:
                await asyncio.to_thread(self._rewrite)
            else:
                await asyncio.to_thread(_append, self._path, _to_lines(decisions))
                self._line_count += len(decisions)
        except OSError as error:
            # the message was sent all the same
            log.warning("a routing decision could not be saved: %s", error)

    def _rewrite(self) -> None:
        decisions = list(dict(self._decisions).values())
        replace_file(self._path, _to_lines(decisions))
        self._line_count = len(decisions)


def _to_lines(decisions: list[RoutedMessage]) -> bytes:
    return b"".join(msgspec.json.encode(each) + b"\n" for each in decisions)


def _append(path: Path, lines: bytes) -> None:
    make_private_folder(path.parent)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        os.fchmod(descriptor, 0o600)
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            # a writer that was killed wrote half a line
            lines = b"\n" + lines
        while lines:
            lines = lines[os.write(descriptor, lines) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
