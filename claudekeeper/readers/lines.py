"""Lines of a file that others write: forwards, backwards, and by place.

Nothing here maps the file into memory: a transcript that is cut short while it is mapped would
end the whole process.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SMALL = 32 * 1024
LARGE = 1024 * 1024


class Changed(Exception):
    """The file was cut or replaced while it was being read."""


@contextmanager
def opened(path: Path | str) -> Iterator[int]:
    """A descriptor of a regular file, read only; a pipe or device of that name never blocks us."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise IsADirectoryError(f"{path} is not a regular file")
        yield descriptor
    finally:
        os.close(descriptor)


def backwards(descriptor: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Each line before `end` with its offset, last one first."""
    position = end
    chunk = SMALL
    # what stands before the first newline of what was read so far, latest piece first
    unfinished: list[bytes] = []
    while position > 0:
        size = min(chunk, position)
        position -= size
        chunk = min(chunk * 2, LARGE)
        block = _read(descriptor, size, position)
        newline = block.find(b"\n")
        if newline < 0:
            unfinished.append(block)
            continue
        unfinished.append(block[newline + 1 :])
        rest = b"".join(reversed(unfinished))
        unfinished = [block[:newline]]
        start = position + newline + 1 + len(rest) + 1
        for line in reversed(rest.split(b"\n")):
            start -= len(line) + 1
            if line:
                yield start, line
    first = b"".join(reversed(unfinished))
    if first:
        yield 0, first


def forwards(descriptor: int, start: int, end: int) -> Iterator[tuple[int, bytes, bool]]:
    """Each line from `start` to `end` with its offset, and whether a newline ends it."""
    unfinished: list[bytes] = []
    at = position = start
    while position < end:
        block = _read(descriptor, min(LARGE, end - position), position)
        position += len(block)
        lines = block.split(b"\n")
        if len(lines) > 1:
            unfinished.append(lines[0])
            first = b"".join(unfinished)
            unfinished = []
            yield at, first, True
            at += len(first) + 1
            for line in lines[1:-1]:
                yield at, line, True
                at += len(line) + 1
        if lines[-1]:
            unfinished.append(lines[-1])
    if unfinished:
        yield at, b"".join(unfinished), False


class Places:
    """Reads lines by their place; neighbours come out of one read."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._start = 0
        self._window = b""

    def line(self, offset: int, length: int) -> bytes:
        start = offset - self._start
        if start < 0 or start + length > len(self._window):
            size = max(length, SMALL if not self._window else LARGE)
            self._window = os.pread(self._descriptor, size, offset)
            self._start, start = offset, 0
            if len(self._window) < length:
                raise Changed
        return self._window[start : start + length]


def _read(descriptor: int, size: int, position: int) -> bytes:
    block = os.pread(descriptor, size, position)
    if len(block) != size:
        raise Changed
    return block
