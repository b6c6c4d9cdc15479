"""How far sessions cover their projects' checklists, kept current beside the list."""

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
from claudekeeper.coverage.discussion import Discussion
from claudekeeper.coverage.readiness import Coverage, coverage_of, covered_times, session_progress
from claudekeeper.coverage.transcript_coverage import fold_coverage, unpack_state

# seconds between two looks for checklists that came, changed or went
RESCAN_INTERVAL = 60.0
# and from a change of a transcript to the look at it: a turn writes many lines
DEBOUNCE = 0.5
# of a transcript so much is read for somebody who waits; the rest is read beside
MAX_READ_ON_REQUEST = 32 * 1024 * 1024
# how many transcripts one trip to a thread reads
BATCH_SIZE = 16


# a session and its directory
RowWithWorkdir = tuple[SessionRow, str]


class SessionCoverage(msgspec.Struct):
    """A session's coverage, and when each covered item was covered first."""

    coverage: Coverage
    covered_times: list[str]


class CoverageService:
    """Folds the transcripts of projects that have a checklist, and no others."""

    def __init__(self, catalog: Catalog, cache: Cache) -> None:
        self._catalog = catalog
        self._cache = cache
        self._tasks = Tasks()
        self._checklists: dict[str, Checklist | None] = {}
        # the directory of every session
        self._workdirs: dict[str, str] = {}
        # by session: the checklist and the version of the transcript that were looked at
        self._folded_versions: dict[str, tuple[str, str, int, int]] = {}
        self._progress: dict[str, SessionProgress] = {}
        self._changed_sessions: set[str] = set()
        self._has_changes = asyncio.Event()
        self._refresh_lock = asyncio.Lock()
        # with the id of a session whose progress is another
        self.progress_changed = Signal[str]()

    async def start(self) -> None:
        self._tasks.start(self._run(), name="coverage:keep-current")

    async def close(self) -> None:
        await self._tasks.close()

    def progress_of(self, session_id: str) -> SessionProgress | None:
        """As it was seen last; no disk is asked."""
        return self._progress.get(session_id)

    def handle_row_change(self, change: RowChange) -> None:
        """A session's file is not what it was."""
        self._changed_sessions.add(change.session_id)
        self._has_changes.set()

    def session_coverage(self, row: SessionRow) -> SessionCoverage | None:
        """What this session covers; None where its project has no checklist. Blocks."""
        workdir = row.summary.workdir
        checklist = read_checklist(workdir) if workdir else None
        if checklist is None:
            return None
        discussion, whole = self._fold(row, checklist, MAX_READ_ON_REQUEST)
        coverage = coverage_of(checklist, discussion)
        coverage.read = whole
        return SessionCoverage(coverage, covered_times(checklist, discussion))

    def project_coverage(self, rows: Iterable[SessionRow], workdir: str) -> SessionCoverage | None:
        """What the sessions of a directory cover together, as far as it was read. Blocks."""
        checklist = read_checklist(workdir)
        if checklist is None or checklist.error is not None:
            return None
        whole = Discussion()
        for row in rows:
            if row.summary.workdir == workdir:
                kept = self._cache.load_coverage(row.file.path)
                discussion = unpack_state(kept, checklist).discussion
                for place, evidence in discussion.covered.items():
                    known = whole.covered.get(place)
                    if known is None or evidence.since < known.since:
                        whole.covered[place] = evidence
        return SessionCoverage(coverage_of(checklist, whole), covered_times(checklist, whole))

    # ---- staying current ----

    async def _run(self) -> None:
        # whatever was there before is read once the list itself is
        rows = await self._catalog.rows()
        await self._catalog.wait_full_scan()
        await self._refresh_rows(rows)
        self._tasks.every(RESCAN_INTERVAL, self._refresh_checklists, name="coverage:checklists")
        while True:
            await self._has_changes.wait()
            await asyncio.sleep(DEBOUNCE)
            await self._refresh_changed()

    async def _refresh_checklists(self) -> None:
        """Sessions are looked at again only where the checklist of their directory is another."""
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
            touched, self._changed_sessions = self._changed_sessions, set()
            self._has_changes.clear()
            rows: list[SessionRow] = []
            for session_id in touched:
                row = self._catalog.peek_row(session_id)
                if row is None:
                    self._drop_session(session_id)
                else:
                    rows.append(row)
            await self._refresh_rows(rows)

    async def _refresh_rows(self, rows: Iterable[SessionRow]) -> None:
        placed = await asyncio.to_thread(_with_workdirs, rows)
        self._workdirs |= {row.file.id: workdir for row, workdir in placed}
        new = {workdir for _, workdir in placed} - self._checklists.keys()
        if new:
            self._checklists |= await asyncio.to_thread(_read_checklists, new)
        await self._fold_rows(placed)

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
        """What its transcript covers. `most`: how many new bytes are read."""
        path = row.file.path
        if checklist.error is not None or row.fault is not None:
            return Discussion(), True
        kept = self._cache.load_coverage(path)
        folded = fold_coverage(path, checklist, kept, most)
        if folded is None:
            return Discussion(), True
        discussion, now, whole = folded
        if now != kept:
            self._cache.save_coverage({path: now})
        return discussion, whole

    def _drop_session(self, session_id: str) -> None:
        if self._catalog.peek_row(session_id) is None:
            self._workdirs.pop(session_id, None)
        looked = self._folded_versions.pop(session_id, None)
        if looked is not None and self._catalog.peek_row(session_id) is None:
            path = looked[0]
            self._tasks.start(
                asyncio.to_thread(self._cache.save_coverage, {path: None}), name="coverage:forget"
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
    """With their directories: thousands are packed, so this takes a moment."""
    return [(row, workdir) for row in rows if (workdir := row.summary.workdir)]


def _read_checklists(workdirs: Iterable[str]) -> dict[str, Checklist | None]:
    return {workdir: read_checklist(workdir) for workdir in workdirs}


def _fold_version(row: SessionRow, checklist: Checklist) -> tuple[str, str, int, int]:
    return row.file.path, checklist.revision, row.file.size, row.file.mtime
