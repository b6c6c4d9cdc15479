"""What the catalog learned, put into the cache for the next start. Nobody waits for the disk."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from claudekeeper.catalog.cache import Cache, FolderTimes, RowsByFolder

# seconds between two savings
SAVE_INTERVAL = 1.0


class CacheWriter:
    """What the cache does not know yet, and the way there."""

    def __init__(
        self, cache: Cache, rows_by_folder: RowsByFolder, folder_times: FolderTimes
    ) -> None:
        self._cache = cache
        # the catalog's own, as they are when they are saved
        self._rows_by_folder = rows_by_folder
        self._folder_times = folder_times
        self._pending_folders: set[str] = set()
        self._pending_folds: dict[str, bytes | None] = {}
        self._save_lock = asyncio.Lock()
        self._has_changes = asyncio.Event()

    def schedule(self, folders: Iterable[str], folds: dict[str, bytes | None]) -> None:
        """These folders have other rows, and these files other folds, than the cache knows."""
        self._pending_folders |= set(folders)
        self._pending_folds |= folds
        if self._pending_folders:
            self._has_changes.set()

    def pending_fold(self, path: str) -> bytes | None:
        """What is to be remembered of a file, as long as the cache does not have it."""
        return self._pending_folds.get(path)

    async def run(self) -> None:
        """Save whenever there is something."""
        while True:
            await self._has_changes.wait()
            await self.save_all()
            # while thousands are counted, the same folders change again and again
            await asyncio.sleep(SAVE_INTERVAL)

    async def save_folds(self) -> None:
        """Only what folds remember; the rows, which thousands of others lie beside, come later."""
        async with self._save_lock:
            folds, self._pending_folds = self._pending_folds, {}
            await asyncio.to_thread(self._cache.save, {}, {}, folds)

    async def save_all(self) -> None:
        """Until the cache has all that is known by now."""
        async with self._save_lock:
            self._has_changes.clear()
            rows_by_folder = {
                folder: self._rows_by_folder.get(folder, {}) for folder in self._pending_folders
            }
            folds, self._pending_folders, self._pending_folds = self._pending_folds, set(), {}
            if rows_by_folder:
                await asyncio.to_thread(
                    self._cache.save, rows_by_folder, dict(self._folder_times), folds
                )
