"""Disk space that is reserved, so that state can be saved when the disk is full."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

from claudekeeper.core.atomic_files import make_private_folder, replace_file

NAME = "reserve"
MIN_BYTES = 4 * 1024 * 1024
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class DiskReserve:
    """A file that holds the space until it is needed."""

    def __init__(self, folder: Path, size: int = MIN_BYTES) -> None:
        self._path = folder / NAME
        self._size = size

    def hold(self) -> None:
        """Reserves the space if the disk has it. Blocks."""
        with contextlib.suppress(OSError):
            if self._path.stat().st_size >= self._size:
                return
        with contextlib.suppress(OSError):
            make_private_folder(self._path.parent)
            self.release()
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                _allocate(descriptor, self._size)
            except OSError:
                # the little that is free is for others
                self._path.unlink()
            finally:
                os.close(descriptor)

    def release(self) -> bool:
        """Frees the space; returns whether any was reserved."""
        try:
            self._path.unlink()
        except OSError:
            return False
        return True

    def write(self, path: Path, content: bytes) -> None:
        """Replaces a file; on a full disk in the reserved space. Blocks."""
        # the old file stays until the new one is complete
        self._size = max(self._size, 2 * len(content))
        try:
            replace_file(path, content, durable=False)
        except OSError as error:
            if error.errno not in _FULL or not self.release():
                raise
            replace_file(path, content, durable=False)
        else:
            self.hold()


def _allocate(descriptor: int, size: int) -> None:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, size)
        return
    block = bytes(64 * 1024)
    while size > 0:
        size -= os.write(descriptor, block[:size])
