"""Changes below a folder by `watchfiles`, for systems without inotify.

The library watches at any depth and is quick enough. But it does not report that the system
dropped events, which files a new folder had, or that the folder itself was replaced. This module
checks for all three.
"""

from __future__ import annotations

import asyncio
import errno
import math
import os
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing

STEP_MS = 20  # milliseconds of quiet that end a burst of writes
DEBOUNCE_MS = 100  # milliseconds after which a burst is reported although it goes on
CHECK_INTERVAL = 1.0  # seconds between two checks of the folder itself
RESCAN_INTERVAL = 30.0  # seconds between two rescans, since dropped events are not reported


async def changed_paths(
    root: str, rescan_interval: float = RESCAN_INTERVAL
) -> AsyncGenerator[list[str]]:
    """Changed paths, batch by batch; `root` itself stands for everything.

    Ends when the folder is not the same any more.
    """
    import watchfiles  # imported here: it takes megabytes, and Linux does not need it

    identity = _identity(root)
    events = watchfiles.awatch(
        root,
        watch_filter=None,
        step=STEP_MS,
        debounce=DEBOUNCE_MS,
        rust_timeout=max(STEP_MS, int(min(rescan_interval, CHECK_INTERVAL) * 1000)),
        yield_on_timeout=True,
        # otherwise it ignores a watch limit and a folder that it may not read
        ignore_permission_denied=False,
    )
    # one rescan after the first batch finds what happened before the watches were set
    rescanned = -math.inf
    try:
        async with aclosing(events):
            async for batch in events:
                if _identity(root) != identity:
                    return
                if time.monotonic() - rescanned >= rescan_interval:
                    rescanned = time.monotonic()
                    yield [root]
                if batch:
                    new = [path for change, path in batch if change is watchfiles.Change.added]
                    inside = await asyncio.to_thread(_files_below, new)
                    yield list(dict.fromkeys([*(path for _, path in batch), *inside]))
    except OSError as error:
        if "watch limit" in str(error):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), root) from error
        raise


def _files_below(paths: list[str]) -> list[str]:
    """The files of new folders, which may be older than the watch."""
    return [
        os.path.join(folder, name)
        for path in paths
        if not os.path.islink(path)
        for folder, _, names in os.walk(path)
        for name in names
    ]


def _identity(root: str) -> tuple[int, int] | None:
    try:
        status = os.stat(root)
    except OSError:
        return None
    return status.st_dev, status.st_ino
