"""What is allowed for good in a settings file: one answer after another, until each stands there.

Every Claude Code reads the file, adds to it and writes it: of two that do so at once, one forgets
what the other wrote.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from claudekeeper.attention.permission_files import has_change, settings_file
from claudekeeper.core.keyed_locks import KeyedLocks

log = logging.getLogger(__name__)

# seconds between two looks, and how often: a Claude Code on a busy machine takes its time
POLL_SECONDS = 0.02
MAX_POLLS = 150

Change = dict[str, Any]


class GrantWrites:
    def __init__(self) -> None:
        self._locks = KeyedLocks()

    @contextlib.asynccontextmanager
    async def lock_until_written(
        self, workdir: str | None, changes: list[Change]
    ) -> AsyncIterator[None]:
        """The answer is given inside; what it allows stands in its files afterwards."""
        files: dict[Path, list[Change]] = {}
        for change in changes:
            scope = change["destination"]
            if workdir and scope.endswith("Settings"):
                path = await asyncio.to_thread(settings_file, scope, workdir)
                files.setdefault(path, []).append(change)
        async with contextlib.AsyncExitStack() as stack:
            # always in the same order, so that nobody waits for somebody who waits for him
            for path in sorted(files):
                await stack.enter_async_context(self._locks.hold(path))
            yield
            for path, added in files.items():
                await self._wait_until_written(path, added)

    async def _wait_until_written(self, path: Path, changes: list[Change]) -> None:
        for _ in range(MAX_POLLS):
            if await asyncio.to_thread(_has_all_changes, path, changes):
                return
            await asyncio.sleep(POLL_SECONDS)
        log.warning("%s has not yet what was allowed for good", path)


def _has_all_changes(path: Path, changes: list[Change]) -> bool:
    return all(has_change(path, each) for each in changes)
