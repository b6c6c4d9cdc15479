"""What the test's own process has: children, descriptors, tasks."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any


def children() -> list[int]:
    """Children of this process, those that ended and were not seen off too."""
    pids: list[int] = []
    for thread in Path(f"/proc/{os.getpid()}/task").iterdir():
        # a thread may end while we look
        with contextlib.suppress(OSError):
            pids += [int(pid) for pid in (thread / "children").read_text().split()]
    return pids


def is_child(pid: int) -> bool:
    return pid in children()


def count_descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def task_names() -> list[str]:
    """By name, without those that come and go: of connections, requests and writes to disk."""
    names = [task.get_name() for task in asyncio.all_tasks()]
    return sorted(name for name in names if not (name.startswith("Task-") or ":write" in name))


@contextlib.contextmanager
def running(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Its output can be read; at the end it is terminated, whatever became of the test."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, **options) as process:
        try:
            yield process
        finally:
            process.terminate()
