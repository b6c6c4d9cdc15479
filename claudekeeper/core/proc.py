"""/proc/PID/stat: the state, the parent and the start of a process on Linux."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")


class ProcessStat(NamedTuple):
    """What the kernel says of a process."""

    state: str
    parent_pid: int
    # clock ticks from the start of the machine; with the pid it names one process for good
    started: str

    @property
    def is_dead(self) -> bool:
        """Whether it has ended, and only its parent has not taken note yet."""
        return self.state in ("Z", "X")


def read_process_stat(pid: int) -> ProcessStat | None:
    """None for a process that is gone, and on systems without /proc. Blocks."""
    try:
        # the program's name stands in brackets and can hold anything, brackets too
        fields = (PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
        return ProcessStat(fields[0], int(fields[1]), fields[19])
    except (OSError, IndexError, ValueError):
        return None
