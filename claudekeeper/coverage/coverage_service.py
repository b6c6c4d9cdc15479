"""The coverage service: how far sessions cover the checklists of their projects."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import msgspec

from claudekeeper.catalog.cache import Cache
from claudekeeper.catalog.catalog import Catalog, RowChange
from claudekeeper.catalog.discovery import SessionRow
from claudekeeper.contract.sessions import SessionProgress
from claudekeeper.core.signals import Signal
from claudekeeper.core.tasks import Tasks
from claudekeeper.coverage.checklist import Checklist
from claudekeeper.coverage.checklist_file import read_checklist
from claudekeeper.coverage.coverage_reader import fold_coverage, unpack_state
from claudekeeper.coverage.discussion import Discussion
from claudekeeper.coverage.readiness import Coverage, coverage_of, covered_times, session_progress

# seconds between two scans for new, changed or deleted checklists
RESCAN_INTERVAL = 60.0
# and from the first change of a transcript to reading it: a turn writes many lines
DEBOUNCE = 0.5
# how much of a transcript a request waits for; the rest is read in the background
MAX_READ_ON_REQUEST = 32 * 1024 * 1024
# how many transcripts are read in one call of a thread
BATCH_SIZE = 16


# a session and its working directory
RowWithWorkdir = tuple[SessionRow, str]


class SessionCoverage(msgspec.Struct):
    """The coverage of a session, and when each covered item was first covered."""

    coverage: Coverage
    covered_times: list[str]


class CoverageService:
    """Folds the transcripts of projects that have a checklist."""

    def __init__(self, catalog: Catalog, cache: Cache) -> None:
        self._catalog = catalog
        self._cache = cache
        self._tasks = Tasks()
        self._checklists: dict[str, Checklist | None] = {}
        # the working directory of every session
        self._workdirs: dict[str, str] = {}
        # by session: the version of its transcript and checklist that was folded
        self._folded_versions: dict[str, tuple[str, str, int, int]] = {}
        self._progress: dict[str, SessionProgress] = {}
        self._changed_sessions: set[str] = set()
        self._has_changes = asyncio.Event()
        self._refresh_lock = asyncio.Lock()
        # with the id of a session whose progress changed
        self.progress_changed = Signal[str]()

    async def start(self) -> None:
        self._tasks.start(self._run(), name="coverage:keep-current")

    async def close(self) -> None:
        await self._tasks.close()

    def progress_of(self, session_id: str) -> SessionProgress | None:
        """The progress as it was last read; never blocks."""
        return self._progress.get(session_id)

    def handle_row_change(self, change: RowChange) -> None:
        """Handle a transcript that came, changed or went."""
        self._changed_sessions.add(change.session_id)
        self._has_changes.set()

    def session_coverage(self, row: SessionRow) -> SessionCoverage | None:
        """The coverage of a session; None if its project has no checklist. Blocks."""
        workdir = row.summary.workdir
        checklist = read_checklist(workdir) if workdir else None
        if checklist is None:
            return None
        discussion, is_complete = self._fold(row, checklist, MAX_READ_ON_REQUEST)
        coverage = coverage_of(checklist, discussion)
        coverage.read = is_complete
        return SessionCoverage(coverage, covered_times(checklist, discussion))

    def project_coverage(self, rows: Iterable[SessionRow], workdir: str) -> SessionCoverage | None:
        """The coverage of all sessions of a directory, as far as they were read. Blocks."""
        checklist = read_checklist(workdir)
        if checklist is None or checklist.error is not None:
            return None
        together = Discussion()
        for row in rows:
            if row.summary.workdir == workdir:
                packed = self._cache.load_coverage(row.file.path)
                for index, evidence in unpack_state(packed, checklist).discussion.covered.items():
                    earliest = together.covered.setdefault(index, evidence)
                    if evidence.since < earliest.since:
                        together.covered[index] = evidence
        return SessionCoverage(coverage_of(checklist, together), covered_times(checklist, together))

    # ---- staying current ----

    async def _run(self) -> None:
        # the catalog comes first
        rows = await self._catalog.rows()
        await self._catalog.wait_full_scan()
        await self._refresh_rows(rows)
        self._tasks.every(RESCAN_INTERVAL, self._refresh_checklists, name="coverage:checklists")
        while True:
            await self._has_changes.wait()
            await asyncio.sleep(DEBOUNCE)
            await self._refresh_changed()

    async def _refresh_checklists(self) -> None:
        """Read all checklists, and fold the sessions of those that changed."""
        async with self._refresh_lock:
            workdirs = set(self._workdirs.values())
            checklists = await asyncio.to_thread(_read_checklists, workdirs)
            changed = {each for each in workdirs if checklists[each] != self._checklists[each]}
            self._checklists = checklists
            sessions = [each for each, workdir in self._workdirs.items() if workdir in changed]
            rows = filter(None, map(self._catalog.peek_row, sessions))
            await self._fold_rows([(row, self._workdirs[row.file.id]) for row in rows])

    async def _refresh_changed(self) -> None:
        async with self._refresh_lock:
            changed, self._changed_sessions = self._changed_sessions, set()
            self._has_changes.clear()
            rows: list[SessionRow] = []
            for session_id in changed:
                row = self._catalog.peek_row(session_id)
                if row is None:
                    self._drop_session(session_id)
                else:
                    rows.append(row)
            await self._refresh_rows(rows)

    async def _refresh_rows(self, rows: Iterable[SessionRow]) -> None:
        with_workdirs = await asyncio.to_thread(_with_workdirs, rows)
        self._workdirs |= {row.file.id: workdir for row, workdir in with_workdirs}
        new = {workdir for _, workdir in with_workdirs} - self._checklists.keys()
        if new:
            self._checklists |= await asyncio.to_thread(_read_checklists, new)
        await self._fold_rows(with_workdirs)

    async def _fold_rows(self, rows: Iterable[RowWithWorkdir]) -> None:
        batch: list[tuple[SessionRow, Checklist]] = []
        for row, workdir in rows:
            checklist = self._checklists.get(workdir)
            if checklist is None or checklist.error is not None:
                if row.file.id in self._folded_versions:
                    self._drop_session(row.file.id)
            elif self._folded_versions.get(row.file.id) != _fold_version(row, checklist):
                batch.append((row, checklist))
        for start in range(0, len(batch), BATCH_SIZE):
            some = batch[start : start + BATCH_SIZE]
            for (row, checklist), progress in zip(
                some, await asyncio.to_thread(self._progress_of_batch, some), strict=True
            ):
                self._folded_versions[row.file.id] = _fold_version(row, checklist)
                self._set_progress(row.file.id, progress)

    def _progress_of_batch(
        self, batch: list[tuple[SessionRow, Checklist]]
    ) -> list[SessionProgress | None]:
        return [
            session_progress(coverage_of(checklist, self._fold(row, checklist, None)[0]))
            for row, checklist in batch
        ]

    def _fold(
        self, row: SessionRow, checklist: Checklist, most: int | None
    ) -> tuple[Discussion, bool]:
        """The discussion of a transcript, and whether all was read; `most`: how many new bytes."""
        path = row.file.path
        if checklist.error is not None or row.fault is not None:
            return Discussion(), True
        before = self._cache.load_coverage(path)
        folded = fold_coverage(path, checklist, before, most)
        if folded is None:
            return Discussion(), True
        discussion, packed, is_complete = folded
        if packed != before:
            self._cache.save_coverage({path: packed})
        return discussion, is_complete

    def _drop_session(self, session_id: str) -> None:
        version = self._folded_versions.pop(session_id, None)
        if self._catalog.peek_row(session_id) is None:
            self._workdirs.pop(session_id, None)
            if version is not None:
                path = version[0]
                self._tasks.start(
                    asyncio.to_thread(self._cache.save_coverage, {path: None}),
                    name="coverage:forget",
                )
        self._set_progress(session_id, None)

    def _set_progress(self, session_id: str, progress: SessionProgress | None) -> None:
        if self._progress.get(session_id) == progress:
            return
        if progress is None:
            del self._progress[session_id]
        else:
            self._progress[session_id] = progress
        self.progress_changed.emit(session_id)


def _with_workdirs(rows: Iterable[SessionRow]) -> list[RowWithWorkdir]:
    """The rows with their working directories. Blocks: thousands are unpacked."""
    return [(row, workdir) for row in rows if (workdir := row.summary.workdir)]


def _read_checklists(workdirs: Iterable[str]) -> dict[str, Checklist | None]:
    return {workdir: read_checklist(workdir) for workdir in workdirs}


def _fold_version(row: SessionRow, checklist: Checklist) -> tuple[str, str, int, int]:
    return row.file.path, checklist.revision, row.file.size, row.file.mtime
