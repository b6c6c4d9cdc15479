"""Every session of the machine, kept current: the list that people see first.

Rows live on the event loop and are replaced, never changed. Reading happens in threads, which
only return what they found.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from claudekeeper.live.memory import give_back
from claudekeeper.live.reading import Reader
from claudekeeper.live.remembering import Remembering
from claudekeeper.live.tasks import Tasks
from claudekeeper.model.facts import Facts, Share, share_of
from claudekeeper.model.summary import Diary, unpack, unpack_account, unpack_diary
from claudekeeper.readers.cache import Cache, Shelf, Shelves, Times
from claudekeeper.readers.counting import count
from claudekeeper.readers.discovery import (
    Row,
    fold_on,
    look_again,
    newest_first,
    project_folders,
)
from claudekeeper.readers.sweep import folder_of, look_through
from claudekeeper.readers.watch import Watcher

# seconds between two looks at everything
SWEEP = 60.0
# and from a look at what changed to the next: a turn writes many lines
SETTLE = 0.15
# how much one trip to a thread folds, so that progress shows and closing does not wait long
BATCH_BYTES = 8 * 1024 * 1024
BATCH_FILES = 64
# a file this small is read for whoever asks
AT_ONCE = 1024 * 1024


class Progress(msgspec.Struct, gc=False):
    """How many sessions have been read to their end."""

    done: int
    total: int


class Counted(msgspec.Struct):
    """A row, and what it is once every line is read; None where its file is gone."""

    before: Row
    after: Row | None
    # what its fold remembers, packed
    fold: bytes | None


class Catalog:
    """The sessions below one projects folder."""

    def __init__(self, projects: Path, cache: Cache, also: Path | None = None) -> None:
        self.projects = projects
        # where sessions are kept that were deleted there
        self._also = also
        self.watcher = Watcher(projects)
        self._cache = cache
        self._reader = Reader()
        self._tasks = Tasks()
        self._ready = asyncio.Event()
        self._uncounted = asyncio.Event()
        self._all_counted = asyncio.Event()
        self._all_counted.set()
        self._sweeping = asyncio.Lock()
        # by folder and path, as read; by id, newest first, as shown
        self._shelves: Shelves = {}
        self._rows: dict[str, Row] = {}
        self._folders: dict[str, int] = {}
        self._remembering = Remembering(cache, self._shelves, self._folders)
        # who shows sessions: called with the id of one whose row is not what it was
        self.changed: Callable[[str], None] = lambda _: None
        # and of one whose transcript was read to its end, which is nothing else than before
        self.was_counted: Callable[[str], None] = lambda _: None
        # who follows what grows: a row as it was and is
        self.row_changed: Callable[[Row | None, Row | None], None] = lambda _before, _row: None

    async def start(self) -> None:
        """Begin; the first listing waits for the first sweep, nothing else does."""
        self._tasks.start(self._keep_current(), name="catalog:sweep")
        self._tasks.start(self._follow_changes(), name="catalog:watch")
        self._tasks.start(self._count(), name="catalog:count")
        self._tasks.start(self._remembering.go_on(), name="catalog:save")

    async def close(self) -> None:
        await self._tasks.close()
        await self.saved()
        await asyncio.to_thread(self._cache.close)

    @property
    def progress(self) -> Progress:
        rows = self._rows.values()
        # nothing more will come of one that cannot be read
        done = sum(row.counted or row.fault is not None for row in rows)
        return Progress(done, len(rows))

    async def all_counted(self) -> None:
        """Wait until no transcript is left to be read to its end."""
        await self._all_counted.wait()

    async def rows(self) -> list[Row]:
        """Every session, newest first, as it stands on disk."""
        await self._ready.wait()
        await self._notice_new_files()
        return list(self._rows.values())

    async def refreshed(self, rows: Iterable[Row]) -> list[Row]:
        """The same sessions with what changed in their files since; without those gone."""
        before = list(rows)
        seen = await asyncio.to_thread(lambda: [look_again(row.found) for row in before])
        stale = [
            row
            for row, now in zip(before, seen, strict=True)
            if now is None or not now.is_same_version(row.found)
        ]
        if stale:
            await self._look_at({folder_of(row) for row in stale})
        return [self._rows[row.found.id] for row in before if row.found.id in self._rows]

    async def row(self, session_id: str) -> Row | None:
        """One session, as it stands on disk."""
        await self._ready.wait()
        session_id = session_id.lower()
        current = await self.refreshed([row for row in [self._rows.get(session_id)] if row])
        if not current:
            # new, or moved to another project's folder
            await self._notice_new_files()
            current = [row for row in [self._rows.get(session_id)] if row]
        return current[0] if current else None

    async def ready(self) -> None:
        """Wait until the sessions are known."""
        await self._ready.wait()

    async def saved(self) -> None:
        """Until the cache has everything that is known by now."""
        await self._remembering.everything()

    def known(self, session_id: str) -> Row | None:
        """One session as it was seen last; no disk is asked."""
        return self._rows.get(session_id)

    async def counted(self, row: Row) -> Row:
        """The session with every line read, where that takes no time; else as it is."""
        if row.counted or row.found.size > BATCH_BYTES:
            return row
        self._take(await asyncio.to_thread(self._count_here, row))
        return self._rows.get(row.found.id, row)

    async def facts(self, row: Row) -> tuple[Row, Facts | None, list[Share]]:
        """What was done there, where every line was read or that takes no time; else None.

        And what its subagents did, as far as that was read.
        """
        row, fold = await self._fold_of(row)
        if fold is None:
            return row, None, []
        folded = unpack(fold)
        shares = await asyncio.to_thread(self._cache.shares, row.found.id)
        return row, folded.facts, [share_of(folded.beside), *shares]

    async def diary(self, row: Row) -> tuple[Row, Diary | None]:
        """When that was, and what was asked, where as much is known."""
        row, fold = await self._fold_of(row)
        return row, unpack_diary(fold) if fold is not None else None

    async def _fold_of(self, row: Row) -> tuple[Row, bytes | None]:
        fold = self._remembering.fold(row.found.path)
        if fold is None and row.counted:
            fold = await asyncio.to_thread(self._cache.fold, row.found.path)
        if fold is not None and row.counted and unpack_account(fold).lines == row.summary.lines:
            return row, fold
        if row.fault is None and row.found.size <= AT_ONCE:
            read = await asyncio.to_thread(fold_on, row, None)
            if read is not None and read[1] is not None:
                return read
        return row, None

    # ---- staying current ----

    async def _keep_current(self) -> None:
        shelves, times = await asyncio.to_thread(self._cache.load)
        self._shelves |= shelves
        await self._look_at(self._shelves.keys() | await self._project_folders(), times)
        while True:
            # a net below the watcher, which looks by itself where nothing is told
            await asyncio.sleep(SWEEP)
            await self._sweep()

    async def _follow_changes(self) -> None:
        await self._ready.wait()
        root = str(self.projects)
        async for folders in self.watcher.changes():
            if root in folders:
                await self._sweep()
            else:
                await self._look_at(folders)
            await asyncio.sleep(SETTLE)

    async def _notice_new_files(self) -> None:
        """A folder's own time changes with every file that comes or goes."""
        folders = await asyncio.to_thread(self._all_folders)
        changed = {path for path, time in folders.items() if self._folders.get(path) != time}
        changed |= self._folders.keys() - folders.keys()
        if changed:
            await self._look_at(changed)

    async def look_at(self, folders: set[str]) -> None:
        """Somebody knows that these changed."""
        await self._look_at(folders)

    async def _project_folders(self) -> set[str]:
        return set(await asyncio.to_thread(self._all_folders))

    def _all_folders(self) -> dict[str, int]:
        kept = project_folders(self._also) if self._also is not None else {}
        return kept | project_folders(self.projects)

    async def _sweep(self) -> None:
        await self._look_at(self._shelves.keys() | await self._project_folders(), self._folders)

    async def _look_at(self, folders: Iterable[str], times: Times | None = None) -> None:
        async with self._sweeping:
            looked = await asyncio.to_thread(
                look_through, folders, self._shelves, self._cache, times
            )
            folds: dict[str, bytes | None] = {}
            for folder, found in looked.items():
                folds |= found.folds
                if found.time is None:
                    self._shelves.pop(folder, None)
                    self._folders.pop(folder, None)
                else:
                    self._shelves[folder] = _merged(found.rows, self._shelves.get(folder, {}))
                    self._folders[folder] = found.time
            self._show()
            self._ready.set()
            self._remembering.soon(
                {folder for folder, found in looked.items() if found.folds}, folds
            )

    def _show(self) -> None:
        rows = newest_first(row for shelf in self._shelves.values() for row in shelf.values())
        before, self._rows = self._rows, {row.found.id: row for row in rows}
        if self._ready.is_set():
            self._tell(before)
        if any(not row.counted for row in rows):
            self._all_counted.clear()
            self._uncounted.set()

    def _tell(self, before: dict[str, Row]) -> None:
        """Say which rows are new, other than they were, or gone."""
        for session_id, row in self._rows.items():
            was = before.get(session_id)
            if was is not row:
                self.row_changed(was, row)
                self.changed(session_id)
        for session_id in before.keys() - self._rows.keys():
            self.row_changed(before[session_id], None)
            self.changed(session_id)

    # ---- reading every line ----

    async def _count(self) -> None:
        try:
            while True:
                await self._uncounted.wait()
                batch, left = self._next_batch()
                if batch:
                    folds = await asyncio.to_thread(self._folds_of, batch)
                    counts = await self._reader.count(list(zip(batch, folds, strict=True)), left)
                    self._take([Counted(*each) for each in zip(batch, *counts, strict=True)])
                    del folds, counts
                    if self._reader.reads_much:
                        # those of a second would be megabytes
                        await self._remembering.folds()
                else:
                    self._uncounted.clear()
                    await self._reader.rest()
                    await self.saved()
                    await asyncio.to_thread(give_back)
                    if not self._uncounted.is_set():
                        self._all_counted.set()
        finally:
            await self._reader.rest()

    def _next_batch(self) -> tuple[list[Row], int]:
        """Some rows to be read now, and how many bytes there are to be read in all."""
        batch: list[Row] = []
        size = left = 0
        for row in self._rows.values():
            if row.counted or row.fault is not None:
                continue
            left += row.found.size
            if size <= BATCH_BYTES and len(batch) < BATCH_FILES:
                batch.append(row)
                size += row.found.size
        return batch, left

    def _folds_of(self, batch: list[Row]) -> list[bytes | None]:
        return [self._cache.fold(row.found.path) for row in batch]

    def _count_here(self, row: Row) -> list[Counted]:
        (after,), (fold,) = count([(row, self._cache.fold(row.found.path))])
        return [Counted(row, after, fold)]

    def _take(self, counted: list[Counted]) -> None:
        shelves: Shelves = {}
        taken: list[Counted] = []
        for each in counted:
            folder, path = folder_of(each.before), each.before.found.path
            if folder not in shelves:
                # a look in another thread may hold the shelf: put up a new one
                shelves[folder] = dict(self._shelves.get(folder, {}))
            shelf = shelves[folder]
            # a sweep may have seen a newer version meanwhile: it knows better
            if shelf.get(path) is not each.before:
                continue
            taken.append(each)
            if each.after is None:
                del shelf[path]
                continue
            shelf[path] = each.after
            if each.after.found == each.before.found:
                # thousands of these are kept: no second copy
                each.after.found = each.before.found
        self._shelves |= shelves
        broken = {folder_of(each.before) for each in taken if each.after and each.after.is_lost}
        if broken:
            # where they worked is told by what lies beside them
            self._tasks.start(self._look_at(broken), name="catalog:look-beside")
        if all(_keeps_its_place(each) for each in taken):
            self._show_counted(taken)
        else:
            self._show()
        self._remembering.soon(
            {folder_of(each.before) for each in taken},
            {each.before.found.path: each.fold for each in taken},
        )

    def _show_counted(self, rows: list[Counted]) -> None:
        """The list as it is, with these counted: ordering thousands again would take too long."""
        for each in rows:
            session_id = each.before.found.id
            if each.after is not None and self._rows.get(session_id) is each.before:
                self._rows[session_id] = each.after
                self.row_changed(each.before, each.after)
                self.was_counted(session_id)


def _keeps_its_place(counted: Counted) -> bool:
    """Whether only what is told of the session changed, not where it stands in the list."""
    before, after = counted.before, counted.after
    return (
        after is not None and after.found == before.found and after.is_session == before.is_session
    )


def _merged(found: Shelf, shelf: Shelf) -> Shelf:
    """What a look found, with what was counted while it looked."""
    for path, row in found.items():
        mine = shelf.get(path)
        if (
            mine is not None
            and mine.counted
            and not row.counted
            and mine.found.is_same_version(row.found)
        ):
            found[path] = mine
    return found
