"""Writing a small file so that it is whole at every moment."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def private_folder(path: Path) -> None:
    """Make a folder, and those above it that are missing, for us alone whatever the umask."""
    if not path.is_dir():
        private_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)


def discard_leftovers(path: Path) -> None:
    """Take away what writers that were killed left; only where no other writer can be at work."""
    for left in path.parent.glob(f".{path.name}.*"):
        with contextlib.suppress(OSError):
            left.unlink()


def write_whole(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Replace a file so that at every moment the old or the new one is there, and only for us.

    `durable`: also when the machine loses its power; without it the disk is not waited for, and
    a kill of this process still loses nothing.
    """
    private_folder(path.parent)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(content)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        os.replace(temporary, path)  # noqa: PTH105 - the same call, in the words of the manual
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise
    if not durable:
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
