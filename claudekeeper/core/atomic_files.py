"""Small files of our own: written so that they are whole at every moment, read only as files."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from datetime import UTC, datetime
from pathlib import Path


def make_private_folder(path: Path) -> None:
    """Make a folder, and those above it that are missing, for us alone whatever the umask."""
    if not path.is_dir():
        make_private_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)


def read_file(path: Path) -> bytes:
    """All of an ordinary file; an OSError for whatever else is there.

    Whoever reads a pipe waits for somebody to write, and a device may have no end.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "no ordinary file", str(path))
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(descriptor)


def quarantine(path: Path) -> Path:
    """Give what cannot be used another name, under which it is kept; returns that."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    aside = path.with_name(f"{path.name}.corrupt-{stamp}")
    path.rename(aside)
    return aside


def remove_temporary_files(path: Path) -> None:
    """Take away what writers that were killed left; only where no other writer can be at work."""
    for left in path.parent.glob(f".{path.name}.*"):
        with contextlib.suppress(OSError):
            left.unlink()


def replace_file(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Replace a file so that at every moment the old or the new one is there, and only for us.

    `durable`: also when the machine loses its power; without it the disk is not waited for, and
    a kill of this process still loses nothing.
    """
    make_private_folder(path.parent)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(content)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        os.replace(temporary, path)  # noqa: PTH105 - the same call, in the words of the manual
    except BaseException as error:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        if isinstance(error, OSError):
            # people know it by this name, and of a full disk the system says none
            error.filename = str(path)
        raise
    if not durable:
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
