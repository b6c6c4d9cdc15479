"""Processes that a keeper left behind when it was killed: CLIs, and what their tools started.

Each carries the home of its keeper in its environment, and passes it on to its children. So they
are known for certain, also those that no record could have named in time.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from claudekeeper.core.proc import PROC, read_process_stat

log = logging.getLogger(__name__)

OWNER_VARIABLE = "CLAUDEKEEPER_OWNER"
# seconds to end in order: a CLI writes down what it has
TERM_SECONDS = 3.0
POLL_SECONDS = 0.02
# what is being ended may start something in its last moment
MAX_ROUNDS = 5


def owner_value(home: Path) -> str:
    return str(home.resolve())


def end_orphans(home: Path) -> int:
    """End whatever is marked with this home, ourselves aside; blocks, returns how many."""
    ended = end_processes_with(f"{OWNER_VARIABLE}={owner_value(home)}")
    if ended:
        log.warning("%d processes of an earlier run were still there, and were ended", ended)
    return ended


def end_processes_with(variable: str) -> int:
    """End every process started with this `NAME=value`, ourselves and who started us aside."""
    if sys.platform != "linux":
        # elsewhere a CLI notices by itself that nobody is at the other end of its pipe
        return 0
    ended = 0
    for _ in range(MAX_ROUNDS):
        count = _end_once(variable.encode())
        ended += count
        if not count:
            break
    return ended


def _end_once(variable: bytes) -> int:
    with contextlib.ExitStack() as stack:
        handles = list(_find_marked(variable, stack))
        for sign in (signal.SIGTERM, signal.SIGKILL):
            for handle in handles:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(handle, sign)
            if _wait_until_gone(handles):
                break
        return len(handles)


def _find_marked(variable: bytes, stack: contextlib.ExitStack) -> Iterator[int]:
    """Handles, not numbers: a number can be another process by the time it is used."""
    ours = _own_ancestors()
    for folder in PROC.glob("[0-9]*"):
        pid = int(folder.name)
        if pid in ours:
            continue
        try:
            handle = os.pidfd_open(pid)
            stack.callback(os.close, handle)
            if variable in (folder / "environ").read_bytes().split(b"\0"):
                yield handle
        except OSError:
            # gone meanwhile, or somebody else's
            continue


def _own_ancestors() -> set[int]:
    """Ourselves and who started us: a keeper can be started from a session's own shell."""
    pids: set[int] = set()
    pid = os.getpid()
    while pid > 1 and pid not in pids:
        pids.add(pid)
        stat = read_process_stat(pid)
        if stat is None:
            break
        pid = stat.parent_pid
    return pids


def _wait_until_gone(handles: list[int]) -> bool:
    until = time.monotonic() + TERM_SECONDS
    while any(_is_alive(handle) for handle in handles):
        if time.monotonic() > until:
            return False
        time.sleep(POLL_SECONDS)
    return True


def _is_alive(handle: int) -> bool:
    try:
        signal.pidfd_send_signal(handle, 0)
    except ProcessLookupError:
        return False
    # a zombie can be signalled too; its parent's neglect is not life
    fields = Path(f"/proc/self/fdinfo/{handle}").read_text().split("Pid:")[1].split()
    stat = read_process_stat(int(fields[0]))
    return stat is not None and not stat.is_dead
