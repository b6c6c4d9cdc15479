"""Changes in folders by Linux's inotify, which also reports when it missed some.

No library is used: those that were compared hide that watches ran out or that the queue
overflowed, and then changes are missed without notice.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from functools import cache
from typing import NamedTuple, Self

MODIFY = 0x00000002
ATTRIB = 0x00000004
CLOSE_WRITE = 0x00000008
MOVED_FROM = 0x00000040
MOVED_TO = 0x00000080
CREATE = 0x00000100
DELETE = 0x00000200
DELETE_SELF = 0x00000400
MOVE_SELF = 0x00000800
UNMOUNT = 0x00002000
OVERFLOW = 0x00004000
IGNORED = 0x00008000
ONLYDIR = 0x01000000
DONT_FOLLOW = 0x02000000
ISDIR = 0x40000000

CHANGES = MODIFY | CLOSE_WRITE | MOVED_FROM | MOVED_TO | CREATE | DELETE | DELETE_SELF | MOVE_SELF
# the folder itself is gone; one that was only renamed still reports
GONE = DELETE_SELF | UNMOUNT | IGNORED

_EVENT_HEADER = struct.Struct("iIII")
_READ_SIZE = 256 * 1024


class InotifyEvent(NamedTuple):
    watch: int
    mask: int
    name: str


class Inotify:
    """Watches of folders, each with a number. Every failure is an OSError."""

    def __init__(self) -> None:
        self._descriptor = _check_result(_libc().inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def fileno(self) -> int:
        return self._descriptor

    def watch(self, folder: str, *, follow: bool = False) -> int:
        """Watch a folder and what lies directly in it."""
        flags = CHANGES | ONLYDIR | (0 if follow else DONT_FOLLOW)
        return _check_result(
            _libc().inotify_add_watch(self._descriptor, os.fsencode(folder), flags), folder
        )

    def read(self) -> list[InotifyEvent]:
        """The events that wait to be read; does not block."""
        events: list[InotifyEvent] = []
        while True:
            try:
                content = os.read(self._descriptor, _READ_SIZE)
            except BlockingIOError:
                return events
            position = 0
            while position < len(content):
                watch, mask, _, size = _EVENT_HEADER.unpack_from(content, position)
                position += _EVENT_HEADER.size
                name = content[position : position + size].rstrip(b"\0")
                events.append(InotifyEvent(watch, mask, os.fsdecode(name)))
                position += size


def is_available() -> bool:
    return sys.platform == "linux" and hasattr(_libc(), "inotify_init1")


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check_result(result: int, path: str | None = None) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), path)
    return result
