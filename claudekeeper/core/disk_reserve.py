"""Room on the disk that is set aside, so that words can be written down when it is full."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

from claudekeeper.core.atomic_files import make_private_folder, replace_file

NAME = "reserve"
LEAST_BYTES = 4 * 1024 * 1024
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class DiskReserve:
    """A file that holds room, and is given up for what has to be written."""

    def __init__(self, folder: Path, size: int = LEAST_BYTES) -> None:
        self._path = folder / NAME
        self._size = size

    def hold(self) -> None:
        """Set the room aside, as far as the disk has it. Blocks."""
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
                # what there is belongs to others
                self._path.unlink()
            finally:
                os.close(descriptor)

    def release(self) -> bool:
        """Give the room up; whether there was some."""
        try:
            self._path.unlink()
        except OSError:
            return False
        return True

    def write(self, path: Path, content: bytes) -> None:
        """Replace a file; on a full disk, in the room that was set aside. Blocks."""
        # the old file is there until the new one is whole
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
