"""The lock that allows one keeper for each home, and the address of the keeper that runs."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import logging
import os
import stat
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from claudekeeper.core.atomic_files import make_private_folder
from claudekeeper.net.errors import ApiError

log = logging.getLogger(__name__)

# a command that only looks holds the lock for a moment
LOCK_TIMEOUT = 1.0
RETRY_INTERVAL = 0.05


class RunningKeeper(msgspec.Struct, rename="camel", omit_defaults=True):
    """The process that runs, and the addresses it listens on."""

    pid: int
    started: str
    keeper: str | None = None
    clarvis: str | None = None


class AlreadyRunning(ApiError):
    code = "already_running"
    sentence = "Another keeper runs on this home."


class InstanceLock:
    """The lock of a running keeper. Its file says who holds it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        started = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        self._record = RunningKeeper(os.getpid(), started)
        self._write_record()

    def announce(self, *, keeper: str | None = None, clarvis: str | None = None) -> None:
        self._record.keeper = keeper or self._record.keeper
        self._record.clarvis = clarvis or self._record.clarvis
        self._write_record()

    def _write_record(self) -> None:
        # in place: the lock belongs to this file, and a new file would not be locked
        content = msgspec.json.encode(self._record) + b"\n"
        try:
            os.pwrite(self._descriptor, content, 0)
            os.ftruncate(self._descriptor, len(content))
        except OSError as error:
            # a full disk is no reason not to run; clients have to be told the address then
            log.warning("the address of this keeper could not be saved (%s)", error.strerror)


def lock_path(home: Path) -> Path:
    return home / "keeper.lock"


@contextlib.contextmanager
def hold_instance_lock(home: Path) -> Iterator[InstanceLock]:
    """Locks the home. The system releases the lock when the process ends, however it ends."""
    make_private_folder(home)
    # never deleted: otherwise two keepers could each lock a file of this name
    descriptor = os.open(lock_path(home), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not an ordinary file", str(lock_path(home)))
        os.fchmod(descriptor, 0o600)
        if not _try_lock(descriptor):
            raise AlreadyRunning(_describe_running(home))
        yield InstanceLock(descriptor)
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def running_keeper(home: Path) -> RunningKeeper | None:
    """The keeper that runs on this home; None if there is none."""
    try:
        descriptor = os.open(lock_path(home), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        with contextlib.suppress(msgspec.MsgspecError, OSError):
            return msgspec.json.decode(os.pread(descriptor, 4096, 0), type=RunningKeeper)
        return RunningKeeper(0, "")
    finally:
        os.close(descriptor)
    return None


def _try_lock(descriptor: int) -> bool:
    until = time.monotonic() + LOCK_TIMEOUT
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                return False
            time.sleep(RETRY_INTERVAL)
        else:
            return True


def _describe_running(home: Path) -> str:
    other = running_keeper(home) or RunningKeeper(0, "")
    addresses = " and ".join(each for each in (other.keeper, other.clarvis) if each)
    who = f"pid {other.pid}" + (f", since {other.started}" if other.started else "")
    return (
        f"A keeper runs on {home} already: {who}{f', at {addresses}' if addresses else ''}. "
        "Stop it first, or give this one another CLAUDEKEEPER_HOME."
    )
