"""Writing state to disk in the background, one write at a time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from claudekeeper.core.tasks import Tasks

log = logging.getLogger(__name__)


class BackgroundWriter:
    """Calls `write` after changes; changes that come during a write share the next one.

    A write that fails is logged and not repeated: the next change writes all of the state again.
    `pause` is the number of seconds between two writes.
    """

    def __init__(
        self, write: Callable[[], Awaitable[object]], *, name: str, pause: float = 0.0
    ) -> None:
        self._write = write
        self._name = name
        self._pause = pause
        self._tasks = Tasks()
        self._lock = asyncio.Lock()
        self._changes = 0
        # how many of them had been made when the last write began
        self._written_changes = 0
        self._write_done = asyncio.Event()
        self._is_running = self._is_closing = self._is_closed = False

    def schedule(self) -> None:
        """Something changed that is to be written."""
        self._changes += 1
        if not (self._is_running or self._is_closing):
            self._is_running = True
            self._tasks.start(self._run(), name=self._name)

    async def wait_until_saved(self) -> None:
        """Waits until every change so far was written, or could not be."""
        changes = self._changes
        while self._written_changes < changes and not self._is_closed:
            await self._write_done.wait()

    async def close(self) -> None:
        """Writes a last time; later changes are not written any more."""
        if self._is_closing:
            return
        self._is_closing = True
        # with the lock no write is under way: what is cancelled is a pause
        async with self._lock:
            await self._tasks.close()
            await self._write_changes()
            while self._written_changes < self._changes:
                await self._write_changes()
        self._is_closed = True

    async def _run(self) -> None:
        while self._written_changes < self._changes:
            async with self._lock:
                await self._write_changes()
            await asyncio.sleep(self._pause)
        self._is_running = False

    async def _write_changes(self) -> None:
        changes = self._changes
        try:
            await self._write()
        except Exception:
            log.exception("the write %s failed", self._name)
        self._written_changes = changes
        done, self._write_done = self._write_done, asyncio.Event()
        done.set()
