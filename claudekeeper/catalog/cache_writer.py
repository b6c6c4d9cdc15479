"""Saves the catalog's rows and folds in the background, so that nobody waits for the disk."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from claudekeeper.catalog.cache import Cache, FolderTimes, RowsByFolder

# seconds between two saves
SAVE_INTERVAL = 1.0


class CacheWriter:
    """Collects what the cache does not have yet, and saves it."""

    def __init__(
        self, cache: Cache, rows_by_folder: RowsByFolder, folder_times: FolderTimes
    ) -> None:
        self._cache = cache
        # the catalog's own dicts: they are saved as they are by then
        self._rows_by_folder = rows_by_folder
        self._folder_times = folder_times
        self._pending_folders: set[str] = set()
        self._pending_folds: dict[str, bytes | None] = {}
        self._save_lock = asyncio.Lock()
        self._has_changes = asyncio.Event()

    def schedule(self, folders: Iterable[str], folds: dict[str, bytes | None]) -> None:
        """Save the rows of these folders and these folds soon; a fold that is None is deleted."""
        self._pending_folders |= set(folders)
        self._pending_folds |= folds
        if self._pending_folders:
            self._has_changes.set()

    def pending_fold(self, path: str) -> bytes | None:
        """The fold of a file that is not in the cache yet."""
        return self._pending_folds.get(path)

    async def run(self) -> None:
        """Save whenever something changed."""
        while True:
            await self._has_changes.wait()
            await self.save_all()
            # during a full scan the same folders change again and again
            await asyncio.sleep(SAVE_INTERVAL)

    async def save_folds(self) -> None:
        """Save only the folds; rows are saved by whole folders, so they come less often."""
        async with self._save_lock:
            folds, self._pending_folds = self._pending_folds, {}
            await asyncio.to_thread(self._cache.save, {}, {}, folds)

    async def save_all(self) -> None:
        """Save everything that was scheduled by now."""
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
