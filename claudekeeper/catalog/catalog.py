"""The catalog: the list of all sessions of the machine, kept current.

Rows live on the event loop and are replaced, never changed. Threads read files and only return
what they read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

import msgspec

from claudekeeper.catalog.cache import Cache, FolderRows, FolderTimes, RowsByFolder
from claudekeeper.catalog.cache_writer import CacheWriter
from claudekeeper.catalog.discovery import SessionRow
from claudekeeper.catalog.fold_reader import FoldReader
from claudekeeper.catalog.folder_scan import FolderScan, folder_of, scan_folders
from claudekeeper.catalog.full_scan import FullScanRunner
from claudekeeper.catalog.full_scan_worker import scan_rows
from claudekeeper.catalog.row_list import RowList, SortKey, sort_key
from claudekeeper.core.runtime_options import release_memory
from claudekeeper.core.signals import Signal
from claudekeeper.core.tasks import Tasks
from claudekeeper.transcripts.entries import Entry
from claudekeeper.transcripts.layout import project_folders, stat_again
from claudekeeper.transcripts.tail import read_last_entries
from claudekeeper.watcher.watcher import Watcher

# seconds between two scans of everything
SCAN_INTERVAL = 60.0
# seconds between two scans of changed folders: a turn writes many lines
DEBOUNCE = 0.15
# how much one trip to a thread folds, so that progress shows and closing does not wait long
BATCH_BYTES = 8 * 1024 * 1024
BATCH_FILES = 64


class ScanProgress(msgspec.Struct, gc=False):
    """How many sessions have been read to their end."""

    done: int
    total: int


class RowPage(msgspec.Struct):
    """Some rows of the list, and the position after which the next ones come; None: no more."""

    rows: list[SessionRow]
    cursor: SortKey | None


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


class ReadRow(msgspec.Struct):
    """A row, and what it is once every line is read; None where its file is gone."""

    before: SessionRow
    after: SessionRow | None
    # the state of its fold, packed
    fold: bytes | None


class Catalog:
    """The sessions below one projects folder, and those that the archive has of it."""

    def __init__(self, projects: Path, cache: Cache, archive_projects: Path | None = None) -> None:
        self.row_changed = Signal[RowChange]()
        self.projects = projects
        self._archive_projects = archive_projects
        self.watcher = Watcher(projects)
        self._cache = cache
        self._full_scan = FullScanRunner()
        self._tasks = Tasks()
        self._ready = asyncio.Event()
        self._scan_needed = asyncio.Event()
        self._full_scan_done = asyncio.Event()
        self._full_scan_done.set()
        self._scan_lock = asyncio.Lock()
        # a thread may read the rows of a folder: they are replaced, never changed
        self._rows_by_folder: RowsByFolder = {}
        self._sessions = RowList()
        self._folder_times: dict[str, int] = {}
        self._cache_writer = CacheWriter(cache, self._rows_by_folder, self._folder_times)
        self.folds = FoldReader(cache, self._cache_writer)

    async def start(self) -> None:
        """Start; only the first listing waits for the first scan."""
        self._tasks.start(self._run_scans(), name="catalog:scan")
        self._tasks.start(self._follow_changes(), name="catalog:follow-changes")
        self._tasks.start(self._run_full_scans(), name="catalog:full-scan")
        self._tasks.start(self._cache_writer.run(), name="catalog:save")

    async def close(self) -> None:
        await self._tasks.close()
        await self.save()
        await asyncio.to_thread(self._cache.close)

    @property
    def progress(self) -> ScanProgress:
        return ScanProgress(self._sessions.done, len(self._sessions))

    async def wait_full_scan(self) -> None:
        """Wait until every transcript has been read to its end."""
        await self._full_scan_done.wait()

    async def rows(self) -> list[SessionRow]:
        """Every session, newest first, as it stands on disk."""
        await self._ready.wait()
        await self._scan_changed_folders()
        return list(self._sessions.newest_first())

    async def page(
        self, limit: int, after: SortKey | None, matches: Callable[[SessionRow], bool]
    ) -> RowPage:
        """The sessions that follow a position in the list, as they stand on disk."""
        await self._ready.wait()
        await self._scan_changed_folders()
        # one more than the page says whether there is another
        rows = list(islice(filter(matches, self._sessions.newest_first(after)), limit + 1))
        cursor = sort_key(rows[limit - 1]) if len(rows) > limit else None
        current = await self.refresh(rows[:limit])
        current.sort(key=sort_key, reverse=True)
        return RowPage(current, cursor)

    async def refresh(self, rows: Iterable[SessionRow]) -> list[SessionRow]:
        """The same sessions, as their files are now; without those whose files are gone."""
        before = list(rows)
        files = await asyncio.to_thread(lambda: [stat_again(row.file) for row in before])
        stale = [
            row
            for row, file in zip(before, files, strict=True)
            if file is None or not file.is_same_version(row.file)
        ]
        if stale:
            await self._scan_folders({folder_of(row) for row in stale})
        return [row for each in before if (row := self._sessions.get(each.file.id)) is not None]

    async def row(self, session_id: str) -> SessionRow | None:
        """One session, as it stands on disk."""
        await self._ready.wait()
        session_id = session_id.lower()
        row = self._sessions.get(session_id)
        if row is None or not await self.refresh([row]):
            # new, or moved to another project's folder
            await self._scan_changed_folders()
        return self._sessions.get(session_id)

    async def wait_ready(self) -> None:
        """Wait for the first scan."""
        await self._ready.wait()

    async def save(self) -> None:
        """Wait until the cache has every row and fold of now."""
        await self._cache_writer.save_all()

    def peek_row(self, session_id: str) -> SessionRow | None:
        """One session as of the last scan, without reading the disk."""
        return self._sessions.get(session_id)

    async def recent_entries(self, session_id: str) -> list[Entry]:
        """The entries at the end of a session's transcript."""
        row = await self.row(session_id)
        return await asyncio.to_thread(read_last_entries, row.file.path) if row is not None else []

    async def scan_if_small(self, row: SessionRow) -> SessionRow:
        """The session with every line read, where that takes no time; else as it is."""
        if row.is_fully_scanned or row.file.size > BATCH_BYTES:
            return row
        self._apply_full_scan(await asyncio.to_thread(self._full_scan_row, row))
        return self._sessions.get(row.file.id) or row

    # ---- staying current ----

    async def _run_scans(self) -> None:
        rows, times = await asyncio.to_thread(self._cache.load)
        self._rows_by_folder |= rows
        await self._scan_all(times)
        # in case that the watcher missed something
        self._tasks.every(SCAN_INTERVAL, self._scan_all, name="catalog:scan-again")

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

    def _read_folder_times(self) -> FolderTimes:
        archive = self._archive_projects
        archived = project_folders(archive) if archive is not None else {}
        return archived | project_folders(self.projects)

    async def _scan_all(self, times: FolderTimes | None = None) -> None:
        folders = await asyncio.to_thread(self._read_folder_times)
        await self._scan_folders(
            self._rows_by_folder.keys() | folders.keys(),
            self._folder_times if times is None else times,
        )

    async def _scan_folders(self, folders: Iterable[str], times: FolderTimes | None = None) -> None:
        async with self._scan_lock:
            scans = await asyncio.to_thread(
                scan_folders, folders, self._rows_by_folder, self._cache, times
            )
            folds: dict[str, bytes | None] = {}
            replaced: list[tuple[SessionRow | None, SessionRow | None]] = []
            for folder, scan in scans.items():
                folds |= scan.folds
                replaced += self._apply_folder_scan(folder, scan)
            if self._ready.is_set():
                self._replace_rows(replaced)
            else:
                self._sessions = RowList(
                    row for rows in self._rows_by_folder.values() for row in rows.values()
                )
                self._ready.set()
            self._request_full_scan()
            self._cache_writer.schedule(
                {folder for folder, scan in scans.items() if scan.folds}, folds
            )

    def _apply_folder_scan(
        self, folder: str, scan: FolderScan
    ) -> list[tuple[SessionRow | None, SessionRow | None]]:
        """Take over the rows of a folder; returns those that are new, changed or gone."""
        before = self._rows_by_folder.get(folder, {})
        if scan.mtime is None:
            self._rows_by_folder.pop(folder, None)
            self._folder_times.pop(folder, None)
            return [(row, None) for row in before.values()]
        self._folder_times[folder] = scan.mtime
        if scan.rows is before:
            return []
        self._rows_by_folder[folder] = rows = _keep_full_scans(scan.rows, before)
        paths = before | rows
        return [
            (before.get(path), rows.get(path))
            for path in paths
            if before.get(path) is not rows.get(path)
        ]

    def _replace_rows(
        self,
        replaced: Iterable[tuple[SessionRow | None, SessionRow | None]],
        *,
        only_counted: bool = False,
    ) -> None:
        """Change the list, and say which sessions are new, other than they were, or gone."""
        before: dict[str, SessionRow | None] = {}
        for old, new in replaced:
            row = new or old
            if row is not None:
                before.setdefault(row.file.id, self._sessions.get(row.file.id))
                self._sessions.replace(old, new)
        # a session that moved to another folder changed once
        for session_id, row in before.items():
            current = self._sessions.get(session_id)
            if current is not row:
                self.row_changed.emit(RowChange(session_id, row, current, only_counted))

    def _request_full_scan(self) -> None:
        if self._sessions.done < len(self._sessions):
            self._full_scan_done.clear()
            self._scan_needed.set()

    # ---- reading every line ----

    async def _run_full_scans(self) -> None:
        try:
            while True:
                await self._scan_needed.wait()
                batch = self._next_batch()
                if batch:
                    folds = await asyncio.to_thread(self._load_folds, batch)
                    after, new_folds = await self._full_scan.scan(
                        list(zip(batch, folds, strict=True)), self._sessions.unread_bytes
                    )
                    self._apply_full_scan(
                        [ReadRow(*each) for each in zip(batch, after, new_folds, strict=True)]
                    )
                    del folds, after, new_folds
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

    def _next_batch(self) -> list[SessionRow]:
        """Some rows that are to be read now, the newest first."""
        batch: list[SessionRow] = []
        size = 0
        max_files = min(BATCH_FILES, len(self._sessions) - self._sessions.done)
        rows = self._sessions.newest_first()
        while len(batch) < max_files and size <= BATCH_BYTES:
            row = next(row for row in rows if not row.is_done)
            batch.append(row)
            size += row.file.size
        return batch

    def _load_folds(self, batch: list[SessionRow]) -> list[bytes | None]:
        return [self._cache.load_fold(row.file.path) for row in batch]

    def _full_scan_row(self, row: SessionRow) -> list[ReadRow]:
        (after,), (fold,) = scan_rows([(row, self._cache.load_fold(row.file.path))])
        return [ReadRow(row, after, fold)]

    def _apply_full_scan(self, read_rows: list[ReadRow]) -> None:
        copies: RowsByFolder = {}
        applied: list[ReadRow] = []
        for each in read_rows:
            folder, path = folder_of(each.before), each.before.file.path
            if folder not in copies:
                # a folder scan in another thread may read the rows: change a copy
                copies[folder] = dict(self._rows_by_folder.get(folder, {}))
            rows = copies[folder]
            # a folder scan may have seen a newer version meanwhile
            if rows.get(path) is not each.before:
                continue
            applied.append(each)
            if each.after is None:
                del rows[path]
                continue
            rows[path] = each.after
            if each.after.file == each.before.file:
                # there are thousands: no second copy
                each.after.file = each.before.file
        self._rows_by_folder |= copies
        broken = {folder_of(each.before) for each in applied if each.after and each.after.is_lost}
        if broken:
            # their working directories are inferred from the other files of the folder
            self._tasks.start(self._scan_folders(broken), name="catalog:infer-workdirs")
        self._replace_rows(
            [(each.before, each.after) for each in applied],
            only_counted=all(_is_only_counted(each) for each in applied),
        )
        self._cache_writer.schedule(
            {folder_of(each.before) for each in applied},
            {each.before.file.path: each.fold for each in applied},
        )


def _is_only_counted(read: ReadRow) -> bool:
    """Whether the file and its place in the list are what they were."""
    before, after = read.before, read.after
    return after is not None and after.file == before.file and after.is_session == before.is_session


def _keep_full_scans(rows: FolderRows, current: FolderRows) -> FolderRows:
    """The rows of a folder scan, but those that were read to their end while it ran."""
    for path, row in rows.items():
        current_row = current.get(path)
        if (
            current_row is not None
            and current_row.is_fully_scanned
            and not row.is_fully_scanned
            and current_row.file.is_same_version(row.file)
        ):
            rows[path] = current_row
    return rows
