"""Which transcripts changed: told by the system where it can, found by looking where it cannot."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import watchfiles

log = logging.getLogger(__name__)

STEP = 20  # milliseconds that a burst of writes may last before it is told
DEBOUNCE = 200
RETRY = 2.0  # seconds


class Watching(msgspec.Struct, rename="camel", gc=False):
    """How changes are noticed, for /health."""

    mode: str = "starting"
    reason: str | None = None


class Watcher:
    """Tells the folders below `root` in which something changed."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.state = Watching()

    async def changes(self) -> AsyncIterator[set[str]]:
        """Project folders with changes, batch by batch; ends only when its task is cancelled."""
        while True:
            if not self._root.is_dir():
                # a machine on which Claude Code has not run yet: nothing is wrong
                self.state = Watching("waiting", f"{self._root} does not exist yet")
            else:
                try:
                    async for batch in self._told():
                        yield batch
                except (OSError, RuntimeError) as error:
                    # out of watches, or a file system without them
                    self._degrade(str(error))
            await asyncio.sleep(RETRY)

    async def _told(self) -> AsyncIterator[set[str]]:
        events = watchfiles.awatch(
            self._root,
            watch_filter=None,
            step=STEP,
            debounce=DEBOUNCE,
            ignore_permission_denied=True,
        )
        self.state = Watching("watching")
        # what happened before the watch stood is found by one look at everything
        yield {str(self._root)}
        root = str(self._root)
        async for batch in events:
            yield {_project_of(path, root) for _, path in batch}

    def _degrade(self, reason: str) -> None:
        if self.state.reason != reason:
            log.info("changes are found by looking every few seconds: %s", reason)
        self.state = Watching("polling", reason)


def _project_of(path: str, root: str) -> str:
    """The project folder that a changed path lies in; the root itself for the root."""
    inside = os.path.relpath(path, root)
    return root if inside in ("", ".") else os.path.join(root, inside.split(os.sep)[0])
