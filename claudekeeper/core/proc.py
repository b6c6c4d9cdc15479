"""/proc/PID/stat: the state, the parent and the start of a process on Linux."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")


class ProcessStat(NamedTuple):
    """The fields of the file that the keeper uses."""

    state: str
    parent_pid: int
    # in clock ticks since the machine started; with the pid it identifies a process
    started: str

    @property
    def is_dead(self) -> bool:
        """A zombie: it has ended, and its parent has not waited for it yet."""
        return self.state in ("Z", "X")


def read_process_stat(pid: int) -> ProcessStat | None:
    """None for a process that is gone, and on systems without /proc. Blocks."""
    try:
        # the program's name stands in brackets and can hold anything, brackets too
        fields = (PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
        return ProcessStat(fields[0], int(fields[1]), fields[19])
    except (OSError, IndexError, ValueError):
        return None
