"""Watchers compared: the delay of a change, and the cost of waiting.

The same 5,000 files are watched in turns by the keeper's two watchers and by `watchfiles` with
several steps, each in a process of its own. A file grows by one line; the delay is the time from
the write until that process has its path.

`python -m benchmarks.watchers WAY FOLDER` prints `ready`, and then the moment of each batch.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from statistics import median

import watchfiles

from benchmarks.harness.measure import MAX_SECONDS, ROOT, Figure, milliseconds
from claudekeeper.core.tasks import Tasks
from claudekeeper.watcher.watcher import Watcher
from claudekeeper.watcher.watchfiles_watch import changed_paths

FILES = 5_000
FOLDERS = 100
ROUNDS = 3
APPENDS = 100
# longer than any watcher collects a burst
PAUSE = 0.1
IDLE_SECONDS = 10.0
STEPS = {"watchfiles as it comes": 50, "watchfiles, step 5 ms": 5, "watchfiles, step 1 ms": 1}
OURS = "inotify, by the keeper"
LIBRARY = "watchfiles, by the keeper"
WAYS = (OURS, LIBRARY, *STEPS)


def watchers(environment: Mapping[str, str]) -> list[Figure]:
    delays: dict[str, list[float]] = {way: [] for way in WAYS}
    idle: dict[str, list[float]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory(prefix="claudekeeper-bench-watch-") as folder:
        paths = _files(Path(folder))
        for _ in range(ROUNDS):
            for way in WAYS:
                delay, waiting = _run(environment, way, folder, paths)
                delays[way].append(delay)
                idle[way].append(waiting)
    return [
        Figure(
            f"a line appended to one of {FILES:,} files, until it is told: {way}",
            milliseconds(min(delays[way])),
            details=f"{min(idle[way]) * 100:.2f} % of a core while nothing happens",
        )
        for way in WAYS
    ]


def _files(folder: Path) -> list[Path]:
    paths = [folder / f"-code-{n % FOLDERS}" / f"{n}.jsonl" for n in range(FILES)]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"{}\n")
    return paths


def _run(
    environment: Mapping[str, str], way: str, folder: str, paths: list[Path]
) -> tuple[float, float]:
    """The median delay, and the share of a core that waiting takes."""
    child = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.watchers", way, folder],
        env=environment,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == "ready\n"
        # work left from the start is not the cost of waiting
        time.sleep(2)
        before = _spent(child.pid)
        time.sleep(IDLE_SECONDS)
        idle = (_spent(child.pid) - before) / IDLE_SECONDS
        delays = []
        for number in range(APPENDS):
            path = paths[number * len(paths) // APPENDS]
            start = time.monotonic()
            with path.open("ab") as file:
                file.write(b"{}\n")
            line = ""
            while str(path) not in line:
                moment, _, line = child.stdout.readline().partition(" ")
                if not line:
                    raise RuntimeError(f"{way} ended")
            delays.append(float(moment) - start)
            time.sleep(PAUSE)
    finally:
        child.terminate()
        child.wait(MAX_SECONDS)
        child.stdout.close()
    return median(delays), idle


def _spent(process: int) -> float:
    """Processor time of a process in seconds, which the scheduler counts finer than ticks."""
    tasks = Path(f"/proc/{process}/task")
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir()) / 1e9


async def _print_batches(way: str, folder: str) -> None:
    first = True
    async for paths in _batches(way, folder):
        if first:
            print("ready", flush=True)
            first = False
        elif paths:
            print(time.monotonic(), *paths, flush=True)


async def _batches(way: str, folder: str) -> AsyncIterator[list[str]]:
    """Batches of paths; the first one comes once the watch stands."""
    if way == OURS:
        async for batch in _inotify_batches(folder):
            yield batch
    elif way == LIBRARY:
        async for batch in changed_paths(folder):
            yield batch
    else:
        started = False
        async for changes in watchfiles.awatch(
            folder, step=STEPS[way], rust_timeout=1000, yield_on_timeout=True
        ):
            if changes or not started:
                yield [path for _, path in changes]
            started = True


async def _inotify_batches(folder: str) -> AsyncIterator[list[str]]:
    batches: asyncio.Queue[list[str]] = asyncio.Queue()
    watcher = Watcher(Path(folder), use_watchfiles=False)
    watcher.files_changed.subscribe(lambda paths: batches.put_nowait(list(paths)))

    async def follow() -> None:
        async for _ in watcher.changes():
            batches.put_nowait([])

    tasks = Tasks()
    following = tasks.start(follow(), name="bench:watch")
    try:
        while not following.done():
            yield await batches.get()
    finally:
        await tasks.close()


if __name__ == "__main__":
    asyncio.run(_print_batches(*sys.argv[1:]))
