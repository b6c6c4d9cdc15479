"""Our own small files: replaced atomically, and read only if they are ordinary files."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from datetime import UTC, datetime
from pathlib import Path


def make_private_folder(path: Path) -> None:
    """Makes a folder and its missing parents with mode 0700, whatever the umask."""
    if not path.is_dir():
        make_private_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)


def read_file(path: Path) -> bytes:
    """The content of an ordinary file; OSError for anything else.

    Reading a pipe would block until somebody writes, and a device may have no end.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not an ordinary file", str(path))
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(descriptor)


def quarantine(path: Path) -> Path:
    """Renames a file that cannot be used, so that it is kept; returns the new path."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    aside = path.with_name(f"{path.name}.corrupt-{stamp}")
    path.rename(aside)
    return aside


def remove_temporary_files(path: Path) -> None:
    """Deletes what killed writers left; only where no other writer can be at work."""
    for temporary in path.parent.glob(f".{path.name}.*"):
        with contextlib.suppress(OSError):
            temporary.unlink()


def replace_file(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Replaces a file, with mode 0600: at every moment the old or the new one is whole.

    `durable` holds this over a power failure too. Without it the disk is not waited for, and a
    kill of this process still loses nothing.
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
            # the name that people know; for a full disk the system gives none
            error.filename = str(path)
        raise
    if not durable:
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
