"""Search: keeps the index of words current, and searches it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator
from itertools import product
from pathlib import Path
from threading import Lock
from typing import Literal

import msgspec

from claudekeeper.catalog.catalog import RowChange
from claudekeeper.core.paths import workdirs_in_roots
from claudekeeper.core.runtime_options import release_memory
from claudekeeper.core.tasks import Tasks
from claudekeeper.core.worker_threads import WorkerThreads
from claudekeeper.net.errors import ApiError
from claudekeeper.search import index_worker, trigrams
from claudekeeper.search.indexer import (
    IndexBacklog,
    find_backlog,
    index_transcripts,
    pending_bytes,
)
from claudekeeper.search.query import SearchQueryTerms
from claudekeeper.search.searcher import Searcher, SearchFilters, SearchPage, parse_cursor
from claudekeeper.search.store import (
    IndexUpdate,
    clear_index,
    delete_index,
    open_index,
    open_read_only,
    too_many_dead,
    workdirs,
    write_updates,
)
from claudekeeper.transcripts.history import History
from claudekeeper.transcripts.layout import (
    TranscriptPath,
    parse_transcript_path,
    subagents_of,
    with_session,
)

log = logging.getLogger(__name__)

# bytes that this process reads; more would make it large, so another process reads it
MAX_INLINE_BYTES = 4_000_000
# seconds that a burst of lines is collected
BURST_SECONDS = 0.1
# seconds between two checks of all files, in case that the watcher missed something
ROUND_SECONDS = 600.0
# seconds until the next try after a failure
RETRY_SECONDS = 30.0

Order = Literal["newest", "relevance"]
Stage = Literal["starting", "building", "ready", "failed"]


class SearchIndexUnavailable(ApiError):
    code, status = "index_unavailable", 503
    sentence = "The index of words is being made anew; search again in a moment."


class IndexProgress(msgspec.Struct, frozen=True):
    """How far the index is, in bytes of transcripts."""

    stage: Stage = "starting"
    done: int = 0
    total: int = 0


class SearchService:
    """Searches every session below some folders, which have the layout of `projects`."""

    def __init__(
        self,
        index: Path,
        roots: Iterable[Path],
        wait_before_build: Callable[[], Awaitable[None]],
        workers: WorkerThreads,
        history: History,
    ) -> None:
        """Start once `after` is done: two services should not read thousands of files at once."""
        self._index_path = index
        self._workers = workers
        self._history = history
        self._wait_before_build = wait_before_build
        self._roots = list(roots)
        self._tasks = Tasks()
        self._dirty: set[str] = set()
        self._has_changes = asyncio.Event()
        self._update_due = asyncio.Event()
        self.progress = IndexProgress()
        # the writing connection, used by one thread at a time; each search opens its own
        self._database: sqlite3.Connection | None = None
        self._write_lock = Lock()
        self._closed = False
        self._build_process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        self._tasks.start(self._update_loop(), name="search:build")
        self._tasks.start(self._follow_changes(), name="search:follow")

    async def close(self) -> None:
        # end it first, so that no thread waits for its output
        self._closed = True
        if self._build_process is not None:
            self._build_process.kill()
        await self._tasks.close()
        await asyncio.to_thread(self._close_database)

    async def find(
        self,
        query: SearchQueryTerms,
        filters: SearchFilters,
        order: Order,
        limit: int,
        cursor: str | None,
    ) -> SearchPage:
        # what is no cursor is refused whether there is an index or not
        parse_cursor(cursor)
        return await self._workers.run(self._find, query, filters, order, limit, cursor)

    def _find(
        self,
        query: SearchQueryTerms,
        filters: SearchFilters,
        order: Order,
        limit: int,
        cursor: str | None,
    ) -> SearchPage:
        try:
            with contextlib.closing(open_read_only(self._index_path)) as database:
                narrowed = _resolve_within(database, filters)
                finder = Searcher(database, query, narrowed, self._history)
                find = finder.find_best if order == "relevance" else finder.find_newest
                return find(limit, cursor)
        except sqlite3.Error as error:
            if self.progress.stage == "starting":
                # there is no index yet; the answer says so
                return SearchPage([])
            log.warning("the index %s cannot be searched: %s", self._index_path, error)
            raise SearchIndexUnavailable from error

    # ---- what may have changed ----

    def handle_file_changes(self, paths: Iterable[str]) -> None:
        """Something happened to these files."""
        self._dirty |= {path for path in paths if path.endswith(".jsonl")}
        if self._dirty:
            self._has_changes.set()

    def handle_row_change(self, change: RowChange) -> None:
        """The catalog saw another version of a session; it may be the first to see it."""
        if not change.is_same_version:
            rows = (change.before, change.after)
            self.handle_file_changes([row.file.path for row in rows if row is not None])

    # ---- everything ----

    async def _update_loop(self) -> None:
        await self._wait_before_build()
        while True:
            self._update_due.clear()
            wait = ROUND_SECONDS
            try:
                await self._update()
            except (sqlite3.Error, OSError, msgspec.MsgspecError) as error:
                log.warning("the index %s is unusable (%s), made anew", self._index_path, error)
                self.progress = IndexProgress("failed", 0, self.progress.total)
                wait = RETRY_SECONDS
                await asyncio.to_thread(self._delete_index)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._update_due.wait()

    async def _update(self) -> None:
        todo = await asyncio.to_thread(self._find_backlog)
        if todo.size > MAX_INLINE_BYTES or await asyncio.to_thread(self._is_build_incomplete):
            self.progress = IndexProgress("building", todo.total - todo.size, todo.total)
            # a list of thousands of changed files would fragment the memory
            del todo
            await asyncio.to_thread(self._build)
            todo = await asyncio.to_thread(self._find_backlog)
        if todo.size <= MAX_INLINE_BYTES:
            await asyncio.to_thread(
                self._index_transcripts, [each.transcript for each in todo.stale]
            )
        self.progress = IndexProgress("ready", todo.total, todo.total)
        del todo
        await asyncio.to_thread(self._release_memory)

    def _find_backlog(self) -> IndexBacklog:
        with self._writer() as database:
            if too_many_dead(database):
                clear_index(database)
            todo = find_backlog(database, self._roots, MAX_INLINE_BYTES)
            if todo.deleted:
                write_updates(database, [IndexUpdate(source, None, []) for source in todo.deleted])
            return todo

    def _is_build_incomplete(self) -> bool:
        """Whether a build ended before the word list was made."""
        with self._writer() as database:
            return trigrams.is_stale(database)

    def _release_memory(self) -> None:
        """Free the memory that the check of all files took."""
        self._close_database()
        release_memory()

    def _build(self) -> None:
        """Read the backlog in a process of low priority, which ends with the keeper."""
        with self._write_lock:
            if self._closed:
                return
            # -P: import nothing from the current directory
            command = [sys.executable, "-P", "-m", index_worker.__name__]
            self._build_process = subprocess.Popen(
                [*command, str(self._index_path), *map(str, self._roots)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        with self._build_process as process:
            assert process.stdout is not None
            for line in process.stdout:
                done, total = (int(number) for number in line.split())
                self.progress = IndexProgress("building", done, total)
        if process.returncode != 0 and not self._closed:
            raise OSError(f"the indexing process ended with {process.returncode}")

    # ---- what is new ----

    async def _follow_changes(self) -> None:
        while True:
            await self._has_changes.wait()
            await asyncio.sleep(BURST_SECONDS)
            self._has_changes.clear()
            dirty, self._dirty = self._dirty, set()
            try:
                if not await asyncio.to_thread(self._index_changes, dirty):
                    self._update_due.set()
            except (sqlite3.Error, OSError) as error:
                log.warning("new messages are not in the index yet: %s", error)
                self._update_due.set()

    def _index_changes(self, paths: set[str]) -> bool:
        """Index what is new in these files; False where that is too much for this process."""
        transcripts = list(self._transcripts_of_paths(paths))
        with self._writer() as database:
            if pending_bytes(database, transcripts) > MAX_INLINE_BYTES:
                return False
        self._index_transcripts(transcripts)
        return True

    def _transcripts_of_paths(self, paths: set[str]) -> Iterator[TranscriptPath]:
        for path, root in product(paths, self._roots):
            transcript = parse_transcript_path(path, root)
            if transcript is None or Path(path).is_symlink():
                continue
            yield from with_session(transcript)
            if transcript.agent is None:
                yield from subagents_of(path, transcript.session)

    def _index_transcripts(self, transcripts: list[TranscriptPath]) -> None:
        with self._writer() as database:
            for _ in index_transcripts(database, transcripts):
                pass

    @contextlib.contextmanager
    def _writer(self) -> Iterator[sqlite3.Connection]:
        with self._write_lock:
            if self._closed:
                raise OSError("the index is closed")
            if self._database is None:
                self._database = open_index(self._index_path)
            yield self._database

    def _delete_index(self) -> None:
        self._close_database()
        delete_index(self._index_path)

    def _close_database(self) -> None:
        with self._write_lock:
            if self._database is not None:
                self._database.close()
                self._database = None


def _resolve_within(database: sqlite3.Connection, filters: SearchFilters) -> SearchFilters:
    """The same, with the working directories that lie within the given ones by name."""
    if filters.within is None:
        return filters
    allowed = workdirs_in_roots(workdirs(database), filters.within)
    if filters.workdirs is not None:
        allowed &= filters.workdirs
    return msgspec.structs.replace(filters, workdirs=allowed)
