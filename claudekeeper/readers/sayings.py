"""What was said in a transcript: every command of the person, Claude's last words, and when.

A transcript that has grown is read on from where the last reading ended.
"""

from __future__ import annotations

from collections import OrderedDict
from datetime import datetime
from threading import Lock

import msgspec

from claudekeeper.model.entries import Entry, blocks_of, parse, told_nothing
from claudekeeper.model.said import Listener
from claudekeeper.model.summary import SYNTHETIC
from claudekeeper.readers.discovery import Found
from claudekeeper.readers.lines import Changed, forwards, mark_before, opened

KEPT = 64
# of a very long session its end is enough, and of many commands the last ones
MOST_BYTES = 16 * 1024 * 1024
MOST_COMMANDS = 500


class Said(msgspec.Struct, frozen=True):
    """What one version of a transcript says."""

    commands: tuple[str, ...] = ()
    reply: str = ""
    # of the last command or reply, in seconds since the epoch
    last: float | None = None
    # whether the last thing in it is an error of the API
    failed: bool = False


class _Reading(msgspec.Struct):
    found: Found
    offset: int = 0
    mark: bytes = b""
    said: Said = Said()


class Sayings:
    """Reads transcripts for their words. `of` blocks: call it in a thread."""

    def __init__(self) -> None:
        self._readings: OrderedDict[str, _Reading] = OrderedDict()
        self._lock = Lock()

    def of(self, found: Found) -> Said:
        """Empty for a transcript that cannot be read."""
        with self._lock:
            reading = self._readings.get(found.path)
        if reading is None or not reading.found.is_same_version(found):
            try:
                reading = _read_on(found, reading)
            except (OSError, Changed):
                return Said()
            with self._lock:
                self._readings[found.path] = reading
                while len(self._readings) > KEPT:
                    self._readings.popitem(last=False)
        with self._lock:
            if found.path in self._readings:
                self._readings.move_to_end(found.path)
        return reading.said


def _read_on(found: Found, before: _Reading | None) -> _Reading:
    with opened(found.path) as descriptor:
        offset, said = 0, Said()
        if (
            before is not None
            and before.found.inode == found.inode
            and found.size >= before.offset
            and mark_before(descriptor, before.offset) == before.mark
        ):
            offset, said = before.offset, before.said
        elif found.size > MOST_BYTES:
            offset = found.size - MOST_BYTES
        gathering = _Gathering(said)
        for at, line, ended in forwards(descriptor, offset, found.size):
            if line and not told_nothing(line):
                entries, bad = parse(line)
                if bad and not ended:
                    # stop before a torn line; its writer may still be mid-append
                    break
                for entry in entries:
                    gathering.add(entry)
            offset = at + len(line) + ended
        return _Reading(found, offset, mark_before(descriptor, offset), gathering.said())


class _Gathering:
    def __init__(self, before: Said) -> None:
        self._commands = list(before.commands)
        self._reply = before.reply
        self._last = before.last
        self._failed = before.failed
        self._listener = Listener()

    def add(self, entry: Entry) -> None:
        if entry.is_sidechain:
            return
        if entry.is_meta:
            self._listener.words(entry)
            return
        if entry.type == "assistant":
            self._failed = entry.is_api_error_message
            words = "\n".join(block.text or "" for block in blocks_of(entry.message.content))
            if words.strip() and not self._failed and entry.message.model != SYNTHETIC:
                self._reply = words
        elif (
            entry.type in ("user", "attachment")
            and (said := self._listener.said(entry)) is not None
        ):
            self._failed = False
            if said[1]:
                self._commands.append(said[0])
        else:
            return
        self._last = _seconds(entry.timestamp) or self._last

    def said(self) -> Said:
        commands = tuple(self._commands[-MOST_COMMANDS:])
        return Said(commands, self._reply, self._last, self._failed)


def _seconds(timestamp: str | None) -> float | None:
    try:
        return datetime.fromisoformat(timestamp).timestamp() if timestamp else None
    except ValueError:
        return None
