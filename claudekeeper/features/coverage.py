"""How far sessions cover their projects' checklists, kept current beside the list."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable

import msgspec

from claudekeeper.live.catalog import Catalog
from claudekeeper.live.tasks import Tasks
from claudekeeper.model.checklist import Checklist
from claudekeeper.model.discussion import Discussion
from claudekeeper.model.readiness import (
    Coverage,
    SessionProgress,
    coverage_of,
    covered_since,
    session_progress,
)
from claudekeeper.readers.cache import Cache
from claudekeeper.readers.checklist import read_checklist
from claudekeeper.readers.coverage import fold_coverage, unpacked
from claudekeeper.readers.discovery import Row

# seconds between two looks for checklists that came, changed or went
SWEEP = 60.0
# and from a change of a transcript to the look at it: a turn writes many lines
SETTLE = 0.5
# of a transcript so much is read for somebody who waits; the rest is read beside
AT_ONCE = 32 * 1024 * 1024
# how many transcripts one trip to a thread reads
BATCH = 16


# a session and its directory
Placed = tuple[Row, str]


class Covered(msgspec.Struct):
    """A session's coverage, and when each covered item was covered first."""

    coverage: Coverage
    since: list[str]


class CoverageBook:
    """Folds the transcripts of projects that have a checklist, and no others."""

    def __init__(self, catalog: Catalog, cache: Cache) -> None:
        self._catalog = catalog
        self._cache = cache
        self._tasks = Tasks()
        self._checklists: dict[str, Checklist | None] = {}
        # the directory of every session
        self._workdirs: dict[str, str] = {}
        # by session: the checklist and the version of the transcript that were looked at
        self._looked: dict[str, tuple[str, str, int, int]] = {}
        self._progress: dict[str, SessionProgress] = {}
        self._touched: set[str] = set()
        self._news = asyncio.Event()
        # who shows sessions: called with the id of one whose progress is another
        self.changed: Callable[[str], None] = lambda _: None

    async def start(self) -> None:
        self._tasks.start(self._keep_current(), name="coverage:keep-current")

    async def close(self) -> None:
        await self._tasks.close()

    def progress_of(self, session_id: str) -> SessionProgress | None:
        """As it was seen last; no disk is asked."""
        return self._progress.get(session_id)

    def note(self, before: Row | None, row: Row | None) -> None:
        """A session's file is not what it was."""
        session = row or before
        if session is not None:
            self._touched.add(session.found.id)
            self._news.set()

    def covered(self, row: Row) -> Covered | None:
        """What this session covers; None where its project has no checklist. Blocks."""
        workdir = row.summary.workdir
        checklist = read_checklist(workdir) if workdir else None
        if checklist is None:
            return None
        discussion, whole = self._fold(row, checklist, AT_ONCE)
        coverage = coverage_of(checklist, discussion)
        coverage.read = whole
        return Covered(coverage, covered_since(checklist, discussion))

    def covered_together(self, rows: Iterable[Row], workdir: str) -> Covered | None:
        """What the sessions of a directory cover together, as far as it was read. Blocks."""
        checklist = read_checklist(workdir)
        if checklist is None or checklist.error is not None:
            return None
        whole = Discussion()
        for row in rows:
            if row.summary.workdir == workdir:
                kept = self._cache.coverage(row.found.path)
                discussion = unpacked(kept, checklist).discussion
                for place, evidence in discussion.covered.items():
                    known = whole.covered.get(place)
                    if known is None or evidence.since < known.since:
                        whole.covered[place] = evidence
        return Covered(coverage_of(checklist, whole), covered_since(checklist, whole))

    # ---- staying current ----

    async def _keep_current(self) -> None:
        # whatever was there before is read once the list itself is
        rows = await self._catalog.rows()
        await self._catalog.all_counted()
        await self._look_at_rows(rows)
        clock = asyncio.get_running_loop().time
        sweep = clock() + SWEEP
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(sweep):
                    await self._news.wait()
                    await asyncio.sleep(SETTLE)
            if self._touched:
                await self._look_at_touched()
            if clock() >= sweep:
                await self._look_at_checklists()
                sweep = clock() + SWEEP

    async def _look_at_checklists(self) -> None:
        """Sessions are looked at again only where the checklist of their directory is another."""
        found = await asyncio.to_thread(_checklists_of, set(self._workdirs.values()))
        changed = {workdir for workdir, each in found.items() if each != self._checklists[workdir]}
        self._checklists = found
        if changed:
            sessions = [each for each, workdir in self._workdirs.items() if workdir in changed]
            rows = filter(None, map(self._catalog.known, sessions))
            await self._look_at([(row, self._workdirs[row.found.id]) for row in rows])

    async def _look_at_touched(self) -> None:
        touched, self._touched = self._touched, set()
        self._news.clear()
        rows: list[Row] = []
        for session_id in touched:
            row = self._catalog.known(session_id)
            if row is None:
                self._forget(session_id)
            else:
                rows.append(row)
        await self._look_at_rows(rows)

    async def _look_at_rows(self, rows: Iterable[Row]) -> None:
        placed = await asyncio.to_thread(_placed, rows)
        self._workdirs |= {row.found.id: workdir for row, workdir in placed}
        new = {workdir for _, workdir in placed} - self._checklists.keys()
        if new:
            self._checklists |= await asyncio.to_thread(_checklists_of, new)
        await self._look_at(placed)

    async def _look_at(self, rows: Iterable[Placed]) -> None:
        batch: list[tuple[Row, Checklist]] = []
        for row, workdir in rows:
            checklist = self._checklists.get(workdir)
            if checklist is None or checklist.error is not None:
                if row.found.id in self._looked:
                    self._forget(row.found.id)
            elif self._looked.get(row.found.id) != _version(row, checklist):
                batch.append((row, checklist))
        for start in range(0, len(batch), BATCH):
            some = batch[start : start + BATCH]
            for (row, checklist), progress in zip(
                some, await asyncio.to_thread(self._progress_in, some), strict=True
            ):
                self._looked[row.found.id] = _version(row, checklist)
                self._show(row.found.id, progress)

    def _progress_in(self, batch: list[tuple[Row, Checklist]]) -> list[SessionProgress | None]:
        return [
            session_progress(coverage_of(checklist, self._fold(row, checklist, None)[0]))
            for row, checklist in batch
        ]

    def _fold(self, row: Row, checklist: Checklist, most: int | None) -> tuple[Discussion, bool]:
        """What its transcript covers. `most`: how many new bytes are read."""
        path = row.found.path
        if checklist.error is not None or row.fault is not None:
            return Discussion(), True
        kept = self._cache.coverage(path)
        folded = fold_coverage(path, checklist, kept, most)
        if folded is None:
            return Discussion(), True
        discussion, now, whole = folded
        if now != kept:
            self._cache.keep_coverage({path: now})
        return discussion, whole

    def _forget(self, session_id: str) -> None:
        if self._catalog.known(session_id) is None:
            self._workdirs.pop(session_id, None)
        looked = self._looked.pop(session_id, None)
        if looked is not None and self._catalog.known(session_id) is None:
            path = looked[0]
            self._tasks.start(
                asyncio.to_thread(self._cache.keep_coverage, {path: None}), name="coverage:forget"
            )
        self._show(session_id, None)

    def _show(self, session_id: str, progress: SessionProgress | None) -> None:
        if self._progress.get(session_id) == progress:
            return
        if progress is None:
            del self._progress[session_id]
        else:
            self._progress[session_id] = progress
        self.changed(session_id)


def _placed(rows: Iterable[Row]) -> list[Placed]:
    """With their directories: thousands are packed, so this takes a moment."""
    return [(row, workdir) for row in rows if (workdir := row.summary.workdir)]


def _checklists_of(workdirs: Iterable[str]) -> dict[str, Checklist | None]:
    return {workdir: read_checklist(workdir) for workdir in workdirs}


def _version(row: Row, checklist: Checklist) -> tuple[str, str, int, int]:
    return row.found.path, checklist.revision, row.found.size, row.found.mtime
