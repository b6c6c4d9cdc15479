"""Background tasks: each has a name and an owner, who ends it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

log = logging.getLogger(__name__)


class Tasks:
    """The tasks of one owner. A failed task is logged; `close` cancels those that still run."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, Any], *, name: str) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._on_done)
        return task

    def every(
        self,
        seconds: float,
        work: Callable[[], Awaitable[object]],
        *,
        name: str,
        at_once: bool = False,
    ) -> asyncio.Task[Any]:
        """Calls `work` again and again, with a pause of `seconds` before each round.

        With `at_once` the first round comes without the pause. A round that fails is logged, and
        the next one comes all the same: only `close` ends the loop.
        """
        return self.start(self._repeat(seconds, work, name, at_once), name=name)

    async def _repeat(
        self, seconds: float, work: Callable[[], Awaitable[object]], name: str, at_once: bool
    ) -> None:
        if not at_once:
            await asyncio.sleep(seconds)
        while True:
            try:
                await work()
            except Exception:
                log.exception("a round of the task %s failed", name)
            await asyncio.sleep(seconds)

    async def wait_all(self) -> None:
        """Waits until every task has ended by itself."""
        while self._running:
            await asyncio.wait(self._running)

    async def close(self) -> None:
        for task in self._running:
            task.cancel()
        while self._running:
            await asyncio.wait(self._running)

    def _on_done(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("the task %s failed", task.get_name(), exc_info=error)
