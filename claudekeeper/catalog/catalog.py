"""Every session of the machine, kept current: the list that people see first.

Rows live on the event loop and are replaced, never changed. Reading happens in threads, which
only return what they found.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path

import msgspec

from claudekeeper.analysis.session_facts import SessionFacts, SubagentShare, share_of
from claudekeeper.analysis.summary import (
    SessionActivity,
    unpack_activity,
    unpack_state,
    unpack_usage,
)
from claudekeeper.catalog.cache import Cache, FolderRows, FolderTimes, RowsByFolder
from claudekeeper.catalog.cache_writer import CacheWriter
from claudekeeper.catalog.discovery import (
    SessionRow,
    continue_fold,
    newest_first,
    project_folders,
    stat_again,
)
from claudekeeper.catalog.folder_scan import folder_of, scan_folders
from claudekeeper.catalog.full_scan import FullScanRunner
from claudekeeper.catalog.full_scan_worker import scan_rows
from claudekeeper.core.runtime_options import release_memory
from claudekeeper.core.signals import Signal
from claudekeeper.core.tasks import Tasks
from claudekeeper.transcripts.entries import Entry
from claudekeeper.transcripts.tail import read_last_entries
from claudekeeper.watcher.watcher import Watcher

# seconds between two looks at everything
SCAN_INTERVAL = 60.0
# and from a look at what changed to the next: a turn writes many lines
DEBOUNCE = 0.15
# how much one trip to a thread folds, so that progress shows and closing does not wait long
BATCH_BYTES = 8 * 1024 * 1024
BATCH_FILES = 64
# a file this small is read for whoever asks
MAX_READ_ON_REQUEST = 1024 * 1024


class ScanProgress(msgspec.Struct, gc=False):
    """How many sessions have been read to their end."""

    done: int
    total: int


class RowChange(msgspec.Struct, frozen=True, gc=False):
    """A session's row that is new, other than it was, or gone."""

    session_id: str
    before: SessionRow | None
    after: SessionRow | None
    # only read to its end: nothing that stands in the transcript is new
    only_counted: bool = False

    @property
    def is_same_version(self) -> bool:
        """Whether the file is as it was, and was only read more closely."""
        before, after = self.before, self.after
        return before is not None and after is not None and before.file.is_same_version(after.file)


class SessionCounts(msgspec.Struct):
    """A row, and what it is once every line is read; None where its file is gone."""

    before: SessionRow
    after: SessionRow | None
    # what its fold remembers, packed
    fold: bytes | None


class Catalog:
    """The sessions below one projects folder."""

    def __init__(self, projects: Path, cache: Cache, also: Path | None = None) -> None:
        self.row_changed = Signal[RowChange]()
        self.projects = projects
        # where sessions are kept that were deleted there
        self._archive_projects = also
        self.watcher = Watcher(projects)
        self._cache = cache
        self._full_scan = FullScanRunner()
        self._tasks = Tasks()
        self._ready = asyncio.Event()
        self._scan_needed = asyncio.Event()
        self._full_scan_done = asyncio.Event()
        self._full_scan_done.set()
        self._scan_lock = asyncio.Lock()
        # by folder and path, as read; by id, newest first, as shown
        self._rows_by_folder: RowsByFolder = {}
        self._rows: dict[str, SessionRow] = {}
        self._folder_times: dict[str, int] = {}
        self._cache_writer = CacheWriter(cache, self._rows_by_folder, self._folder_times)

    async def start(self) -> None:
        """Begin; the first listing waits for the first sweep, nothing else does."""
        self._tasks.start(self._run_scans(), name="catalog:sweep")
        self._tasks.start(self._follow_changes(), name="catalog:watch")
        self._tasks.start(self._run_full_scans(), name="catalog:count")
        self._tasks.start(self._cache_writer.run(), name="catalog:save")

    async def close(self) -> None:
        await self._tasks.close()
        await self.save()
        await asyncio.to_thread(self._cache.close)

    @property
    def progress(self) -> ScanProgress:
        rows = self._rows.values()
        # nothing more will come of one that cannot be read
        done = sum(row.is_fully_scanned or row.fault is not None for row in rows)
        return ScanProgress(done, len(rows))

    async def wait_full_scan(self) -> None:
        """Wait until no transcript is left to be read to its end."""
        await self._full_scan_done.wait()

    async def rows(self) -> list[SessionRow]:
        """Every session, newest first, as it stands on disk."""
        await self._ready.wait()
        await self._scan_changed_folders()
        return list(self._rows.values())

    async def refresh(self, rows: Iterable[SessionRow]) -> list[SessionRow]:
        """The same sessions with what changed in their files since; without those gone."""
        before = list(rows)
        seen = await asyncio.to_thread(lambda: [stat_again(row.file) for row in before])
        stale = [
            row
            for row, now in zip(before, seen, strict=True)
            if now is None or not now.is_same_version(row.file)
        ]
        if stale:
            await self._scan_folders({folder_of(row) for row in stale})
        return [self._rows[row.file.id] for row in before if row.file.id in self._rows]

    async def row(self, session_id: str) -> SessionRow | None:
        """One session, as it stands on disk."""
        await self._ready.wait()
        session_id = session_id.lower()
        current = await self.refresh([row for row in [self._rows.get(session_id)] if row])
        if not current:
            # new, or moved to another project's folder
            await self._scan_changed_folders()
            current = [row for row in [self._rows.get(session_id)] if row]
        return current[0] if current else None

    async def wait_ready(self) -> None:
        """Wait until the sessions are known."""
        await self._ready.wait()

    async def save(self) -> None:
        """Until the cache has everything that is known by now."""
        await self._cache_writer.save_all()

    def peek_row(self, session_id: str) -> SessionRow | None:
        """One session as it was seen last; no disk is asked."""
        return self._rows.get(session_id)

    async def recent_entries(self, session_id: str) -> list[Entry]:
        """The entries at the end of a session's transcript."""
        row = await self.row(session_id)
        return await asyncio.to_thread(read_last_entries, row.file.path) if row is not None else []

    async def scan_if_small(self, row: SessionRow) -> SessionRow:
        """The session with every line read, where that takes no time; else as it is."""
        if row.is_fully_scanned or row.file.size > BATCH_BYTES:
            return row
        self._apply_counts(await asyncio.to_thread(self._full_scan_row, row))
        return self._rows.get(row.file.id, row)

    async def facts(
        self, row: SessionRow
    ) -> tuple[SessionRow, SessionFacts | None, list[SubagentShare]]:
        """What was done there, where every line was read or that takes no time; else None.

        And what its subagents did, as far as that was read.
        """
        row, fold = await self._load_fold(row)
        if fold is None:
            return row, None, []
        folded = unpack_state(fold)
        shares = await asyncio.to_thread(self._cache.subagent_shares, row.file.id)
        return row, folded.facts, [share_of(folded.subagent_facts), *shares]

    async def activity(self, row: SessionRow) -> tuple[SessionRow, SessionActivity | None]:
        """When that was, and what was asked, where as much is known."""
        row, fold = await self._load_fold(row)
        return row, unpack_activity(fold) if fold is not None else None

    async def _load_fold(self, row: SessionRow) -> tuple[SessionRow, bytes | None]:
        fold = self._cache_writer.pending_fold(row.file.path)
        if fold is None and row.is_fully_scanned:
            fold = await asyncio.to_thread(self._cache.load_fold, row.file.path)
        if (
            fold is not None
            and row.is_fully_scanned
            and unpack_usage(fold).lines == row.summary.lines
        ):
            return row, fold
        if row.fault is None and row.file.size <= MAX_READ_ON_REQUEST:
            read = await asyncio.to_thread(continue_fold, row, None)
            if read is not None and read[1] is not None:
                return read
        return row, None

    # ---- staying current ----

    async def _run_scans(self) -> None:
        shelves, times = await asyncio.to_thread(self._cache.load)
        self._rows_by_folder |= shelves
        await self._scan_folders(self._rows_by_folder.keys() | await self._project_folders(), times)
        while True:
            # a net below the watcher, which looks by itself where nothing is told
            await asyncio.sleep(SCAN_INTERVAL)
            await self._scan_all()

    async def _follow_changes(self) -> None:
        await self._ready.wait()
        root = str(self.projects)
        async for folders in self.watcher.changes():
            if root in folders:
                await self._scan_all()
            else:
                await self._scan_folders(folders)
            await asyncio.sleep(DEBOUNCE)

    async def _scan_changed_folders(self) -> None:
        """A folder's own time changes with every file that comes or goes."""
        folders = await asyncio.to_thread(self._read_folder_times)
        changed = {path for path, time in folders.items() if self._folder_times.get(path) != time}
        changed |= self._folder_times.keys() - folders.keys()
        if changed:
            await self._scan_folders(changed)

    def handle_folder_changes(self, folders: set[str]) -> None:
        """Somebody else saw that these changed."""
        self._tasks.start(self._scan_folders(folders), name="catalog:scan-folders")

    async def _project_folders(self) -> set[str]:
        return set(await asyncio.to_thread(self._read_folder_times))

    def _read_folder_times(self) -> dict[str, int]:
        kept = project_folders(self._archive_projects) if self._archive_projects is not None else {}
        return kept | project_folders(self.projects)

    async def _scan_all(self) -> None:
        await self._scan_folders(
            self._rows_by_folder.keys() | await self._project_folders(), self._folder_times
        )

    async def _scan_folders(self, folders: Iterable[str], times: FolderTimes | None = None) -> None:
        async with self._scan_lock:
            looked = await asyncio.to_thread(
                scan_folders, folders, self._rows_by_folder, self._cache, times
            )
            folds: dict[str, bytes | None] = {}
            for folder, found in looked.items():
                folds |= found.folds
                if found.mtime is None:
                    self._rows_by_folder.pop(folder, None)
                    self._folder_times.pop(folder, None)
                else:
                    self._rows_by_folder[folder] = _merge_rows(
                        found.rows, self._rows_by_folder.get(folder, {})
                    )
                    self._folder_times[folder] = found.mtime
            self._rebuild_list()
            self._ready.set()
            self._cache_writer.schedule(
                {folder for folder, found in looked.items() if found.folds}, folds
            )

    def _rebuild_list(self) -> None:
        rows = newest_first(
            row for shelf in self._rows_by_folder.values() for row in shelf.values()
        )
        before, self._rows = self._rows, {row.file.id: row for row in rows}
        if self._ready.is_set():
            self._publish_changes(before)
        if any(not row.is_fully_scanned for row in rows):
            self._full_scan_done.clear()
            self._scan_needed.set()

    def _publish_changes(self, before: dict[str, SessionRow]) -> None:
        """Say which rows are new, other than they were, or gone."""
        for session_id, row in self._rows.items():
            was = before.get(session_id)
            if was is not row:
                self.row_changed.emit(RowChange(session_id, was, row))
        for session_id in before.keys() - self._rows.keys():
            self.row_changed.emit(RowChange(session_id, before[session_id], None))

    # ---- reading every line ----

    async def _run_full_scans(self) -> None:
        try:
            while True:
                await self._scan_needed.wait()
                batch, left = self._next_batch()
                if batch:
                    folds = await asyncio.to_thread(self._load_folds, batch)
                    counts = await self._full_scan.scan(list(zip(batch, folds, strict=True)), left)
                    self._apply_counts(
                        [SessionCounts(*each) for each in zip(batch, *counts, strict=True)]
                    )
                    del folds, counts
                    if self._full_scan.has_process:
                        # those of a second would be megabytes
                        await self._cache_writer.save_folds()
                else:
                    self._scan_needed.clear()
                    await self._full_scan.stop_process()
                    await self.save()
                    await asyncio.to_thread(release_memory)
                    if not self._scan_needed.is_set():
                        self._full_scan_done.set()
        finally:
            await self._full_scan.stop_process()

    def _next_batch(self) -> tuple[list[SessionRow], int]:
        """Some rows to be read now, and how many bytes there are to be read in all."""
        batch: list[SessionRow] = []
        size = left = 0
        for row in self._rows.values():
            if row.is_fully_scanned or row.fault is not None:
                continue
            left += row.file.size
            if size <= BATCH_BYTES and len(batch) < BATCH_FILES:
                batch.append(row)
                size += row.file.size
        return batch, left

    def _load_folds(self, batch: list[SessionRow]) -> list[bytes | None]:
        return [self._cache.load_fold(row.file.path) for row in batch]

    def _full_scan_row(self, row: SessionRow) -> list[SessionCounts]:
        (after,), (fold,) = scan_rows([(row, self._cache.load_fold(row.file.path))])
        return [SessionCounts(row, after, fold)]

    def _apply_counts(self, counted: list[SessionCounts]) -> None:
        shelves: RowsByFolder = {}
        taken: list[SessionCounts] = []
        for each in counted:
            folder, path = folder_of(each.before), each.before.file.path
            if folder not in shelves:
                # a look in another thread may hold the shelf: put up a new one
                shelves[folder] = dict(self._rows_by_folder.get(folder, {}))
            shelf = shelves[folder]
            # a sweep may have seen a newer version meanwhile: it knows better
            if shelf.get(path) is not each.before:
                continue
            taken.append(each)
            if each.after is None:
                del shelf[path]
                continue
            shelf[path] = each.after
            if each.after.file == each.before.file:
                # thousands of these are kept: no second copy
                each.after.file = each.before.file
        self._rows_by_folder |= shelves
        broken = {folder_of(each.before) for each in taken if each.after and each.after.is_lost}
        if broken:
            # where they worked is told by what lies beside them
            self._tasks.start(self._scan_folders(broken), name="catalog:look-beside")
        if all(_keeps_order(each) for each in taken):
            self._replace_rows(taken)
        else:
            self._rebuild_list()
        self._cache_writer.schedule(
            {folder_of(each.before) for each in taken},
            {each.before.file.path: each.fold for each in taken},
        )

    def _replace_rows(self, rows: list[SessionCounts]) -> None:
        """The list as it is, with these counted: ordering thousands again would take too long."""
        for each in rows:
            session_id = each.before.file.id
            if each.after is not None and self._rows.get(session_id) is each.before:
                self._rows[session_id] = each.after
                self.row_changed.emit(
                    RowChange(session_id, each.before, each.after, only_counted=True)
                )


def _keeps_order(counted: SessionCounts) -> bool:
    """Whether only what is told of the session changed, not where it stands in the list."""
    before, after = counted.before, counted.after
    return after is not None and after.file == before.file and after.is_session == before.is_session


def _merge_rows(found: FolderRows, shelf: FolderRows) -> FolderRows:
    """What a look found, with what was counted while it looked."""
    for path, row in found.items():
        mine = shelf.get(path)
        if (
            mine is not None
            and mine.is_fully_scanned
            and not row.is_fully_scanned
            and mine.file.is_same_version(row.file)
        ):
            found[path] = mine
    return found
