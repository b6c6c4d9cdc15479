"""Background work with an owner and a name: nothing runs that nobody ends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

log = logging.getLogger(__name__)


class Tasks:
    """The tasks of one owner. A failure is said in the log; closing ends them all."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, Any], *, name: str) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._on_done)
        return task

    async def wait_all(self) -> None:
        """Wait until all of them have ended by themselves."""
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
