"""The threads in which files are read."""

from __future__ import annotations

import asyncio
import threading

from claudekeeper.core.worker_threads import WORKER_COUNT, WorkerThreads
from tests.support.waiting import wait_until


async def test_what_takes_long_leaves_the_other_threads_free() -> None:
    lane, over = WorkerThreads(), threading.Event()
    begun: list[str] = []

    def read() -> None:
        begun.append(threading.current_thread().name)
        over.wait()

    waiting = [asyncio.create_task(lane.run(read)) for _ in range(50)]
    await wait_until(lambda: len(begun) == WORKER_COUNT)
    # somebody who wants little
    assert await asyncio.to_thread(lambda: "a page") == "a page"
    assert len(begun) == WORKER_COUNT
    over.set()
    await asyncio.gather(*waiting)
    assert len(begun) == 50
    lane.close()


async def test_what_fails_there_fails_here() -> None:
    lane = WorkerThreads()

    def fail() -> None:
        raise FileNotFoundError

    outcome = await asyncio.gather(lane.run(fail), return_exceptions=True)
    assert isinstance(outcome[0], FileNotFoundError)
    lane.close()
