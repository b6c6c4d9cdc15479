"""What the catalog learned, put into the cache for the next start. Nobody waits for the disk."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from claudekeeper.readers.cache import Cache, Shelves, Times

# seconds between two savings
PAUSE = 1.0


class Remembering:
    """What the cache does not know yet, and the way there."""

    def __init__(self, cache: Cache, shelves: Shelves, times: Times) -> None:
        self._cache = cache
        # the catalog's own, as they are when they are saved
        self._shelves = shelves
        self._times = times
        self._folders: set[str] = set()
        self._folds: dict[str, bytes | None] = {}
        self._saving = asyncio.Lock()
        self._news = asyncio.Event()

    def soon(self, folders: Iterable[str], folds: dict[str, bytes | None]) -> None:
        """These folders have other rows, and these files other folds, than the cache knows."""
        self._folders |= set(folders)
        self._folds |= folds
        if self._folders:
            self._news.set()

    def fold(self, path: str) -> bytes | None:
        """What is to be remembered of a file, as long as the cache does not have it."""
        return self._folds.get(path)

    async def go_on(self) -> None:
        """Save whenever there is something."""
        while True:
            await self._news.wait()
            await self.everything()
            # while thousands are counted, the same folders change again and again
            await asyncio.sleep(PAUSE)

    async def folds(self) -> None:
        """Only what folds remember; the rows, which thousands of others lie beside, come later."""
        async with self._saving:
            folds, self._folds = self._folds, {}
            await asyncio.to_thread(self._cache.save, {}, {}, folds)

    async def everything(self) -> None:
        """Until the cache has all that is known by now."""
        async with self._saving:
            self._news.clear()
            shelves = {folder: self._shelves.get(folder, {}) for folder in self._folders}
            folds, self._folders, self._folds = self._folds, set(), {}
            if shelves:
                await asyncio.to_thread(self._cache.save, shelves, dict(self._times), folds)
