"""Lines of a file that others write: forwards, backwards, and by offset.

Nothing here maps the file into memory: a transcript that is cut short while it is mapped would
end the whole process.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

SMALL_READ = 32 * 1024
# just below the size for which the allocator calls the system each time
LARGE_READ = 120 * 1024
READ_ONLY = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


class FileChanged(Exception):
    """The file was cut or replaced while it was being read."""


class open_readonly:  # noqa: N801 - used as `with open_readonly(path) as descriptor`
    """A descriptor to read from; opening a pipe of that name does not block.

    A class, because thousands are opened for one listing and a generator costs more.
    """

    __slots__ = ("_descriptor", "_path")

    def __init__(self, path: Path | str) -> None:
        self._path = path

    def __enter__(self) -> int:
        self._descriptor = os.open(self._path, READ_ONLY)
        return self._descriptor

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


def lines_backwards(descriptor: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Each line before `end` with its offset, last one first."""
    position = end
    chunk = SMALL_READ
    # the bytes before the first newline of what was read so far, latest piece first
    unfinished: list[bytes] = []
    while position > 0:
        size = min(chunk, position)
        position -= size
        chunk = min(chunk * 2, LARGE_READ)
        block = _read_exactly(descriptor, size, position)
        newline = block.rfind(b"\n")
        if newline < 0:
            unfinished.append(block)
            continue
        unfinished.append(block[newline + 1 :])
        last = b"".join(reversed(unfinished)) if len(unfinished) > 1 else unfinished[0]
        if last:
            yield position + newline + 1, last
        # one line at a time, each freed before the next, stays in the processor's cache
        stop = newline
        newline = block.rfind(b"\n", 0, stop)
        while newline >= 0:
            if stop - newline > 1:
                yield position + newline + 1, block[newline + 1 : stop]
            stop = newline
            newline = block.rfind(b"\n", 0, stop)
        unfinished = [block[:stop]]
    first = b"".join(reversed(unfinished))
    if first:
        yield 0, first


def lines_forwards(descriptor: int, start: int, end: int) -> Iterator[tuple[int, bytes, bool]]:
    """Each line from `start` to `end` with its offset, and whether a newline ends it."""
    unfinished: list[bytes] = []
    at = position = start
    while position < end:
        block = _read_exactly(descriptor, min(LARGE_READ, end - position), position)
        newline = block.find(b"\n")
        if newline < 0:
            unfinished.append(block)
            position += len(block)
            continue
        unfinished.append(block[:newline])
        yield at, b"".join(unfinished) if len(unfinished) > 1 else unfinished[0], True
        begin = newline + 1
        newline = block.find(b"\n", begin)
        while newline >= 0:
            yield position + begin, block[begin:newline], True
            begin = newline + 1
            newline = block.find(b"\n", begin)
        unfinished = [block[begin:]]
        at = position + begin
        position += len(block)
    last = b"".join(unfinished)
    if last:
        yield at, last, False


class LineReader:
    """Reads lines by their offset; neighbours come out of one read."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._start = 0
        self._window = memoryview(b"")

    def line(self, offset: int, length: int) -> bytes:
        return bytes(self.view(offset, length))

    def view(self, offset: int, length: int) -> memoryview:
        """The line, not copied."""
        start = offset - self._start
        if start < 0 or start + length > len(self._window):
            size = max(length, SMALL_READ if not self._window else LARGE_READ)
            self._window = memoryview(os.pread(self._descriptor, size, offset))
            self._start, start = offset, 0
            if len(self._window) < length:
                raise FileChanged
        return self._window[start : start + length]


def _read_exactly(descriptor: int, size: int, position: int) -> bytes:
    block = os.pread(descriptor, size, position)
    if len(block) != size:
        raise FileChanged
    return block
