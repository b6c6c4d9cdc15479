"""The index of words, kept current: built in a process of its own, then followed line by line."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator
from pathlib import Path
from threading import Lock
from typing import Literal

import msgspec

from claudekeeper.features.router import inside
from claudekeeper.features.search import Filters, Finder, Page, read_cursor
from claudekeeper.features.search_query import Query
from claudekeeper.live.memory import give_back
from claudekeeper.live.promptness import SlowLane
from claudekeeper.live.tasks import Tasks
from claudekeeper.model.errors import KeeperError
from claudekeeper.readers import indexer, lexicon
from claudekeeper.readers.discovery import Row
from claudekeeper.readers.history import History
from claudekeeper.readers.indexing import (
    Backlog,
    Transcript,
    backlog,
    pending,
    recognised,
    subagents_of,
    work_off,
)
from claudekeeper.readers.search_index import (
    Reading,
    begin_anew,
    discard,
    open_index,
    open_to_read,
    too_many_dead,
    workdirs,
    write,
)

log = logging.getLogger(__name__)

# bytes that are read in this process, whose memory is to stay small; more is for one of its own
LITTLE = 4_000_000
# seconds that a burst of lines may last before it is read
SETTLE = 0.1
# seconds between two looks at everything: a net below the watcher
ROUND = 600.0
# and until it is tried again after a failure
RETRY = 30.0

Order = Literal["newest", "relevance"]
Stage = Literal["starting", "building", "ready", "failed"]


class IndexUnavailable(KeeperError):
    code, status = "index_unavailable", 503
    sentence = "The index of words is being made anew; search again in a moment."


class Indexed(msgspec.Struct, frozen=True):
    """How far the index is, in bytes of transcripts."""

    stage: Stage = "starting"
    done: int = 0
    total: int = 0


class Search:
    """Finds words in every session below some folders, which are laid out like `projects`."""

    def __init__(
        self,
        index: Path,
        roots: Iterable[Path],
        after: Callable[[], Awaitable[None]],
        lane: SlowLane,
        history: History,
    ) -> None:
        """`after` is waited for: thousands of files are looked at by one after the other."""
        self._index = index
        self._lane = lane
        self._history = history
        self._after = after
        self._roots = list(roots)
        self._tasks = Tasks()
        self._dirty: set[str] = set()
        self._news = asyncio.Event()
        self._overdue = asyncio.Event()
        self.indexed = Indexed()
        # the one that writes, used by one thread at a time; each search opens the index for itself
        self._database: sqlite3.Connection | None = None
        self._writing = Lock()
        self._closed = False
        self._builder: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        self._tasks.start(self._keep_whole(), name="search:build")
        self._tasks.start(self._follow(), name="search:follow")

    async def close(self) -> None:
        # first, so that no thread waits for what it says
        self._closed = True
        if self._builder is not None:
            self._builder.kill()
        await self._tasks.close()
        await asyncio.to_thread(self._let_go)

    async def find(
        self, query: Query, filters: Filters, order: Order, limit: int, cursor: str | None
    ) -> Page:
        # what is no cursor is refused whether there is an index or not
        read_cursor(cursor)
        return await self._lane.run(self._find, query, filters, order, limit, cursor)

    def _find(
        self, query: Query, filters: Filters, order: Order, limit: int, cursor: str | None
    ) -> Page:
        try:
            with contextlib.closing(open_to_read(self._index)) as database:
                narrowed = _narrowed(database, filters)
                finder = Finder(database, query, narrowed, self._history)
                look = finder.best if order == "relevance" else finder.newest
                return look(limit, cursor)
        except sqlite3.Error as error:
            if self.indexed.stage == "starting":
                # there is nothing to look through yet, as the answer says
                return Page([])
            log.warning("the index %s cannot be searched: %s", self._index, error)
            raise IndexUnavailable from error

    # ---- what may have changed ----

    def touched(self, paths: Iterable[str]) -> None:
        """Something happened to these files."""
        self._dirty |= {path for path in paths if path.endswith(".jsonl")}
        if self._dirty:
            self._news.set()

    def row_changed(self, before: Row | None, row: Row | None) -> None:
        """The catalog saw another version of a session; it may be the first to see it."""
        if before is not None and row is not None and before.found.is_same_version(row.found):
            return
        self.touched([each.found.path for each in (before, row) if each is not None])

    # ---- everything ----

    async def _keep_whole(self) -> None:
        await self._after()
        while True:
            self._overdue.clear()
            wait = ROUND
            try:
                await self._catch_up()
            except (sqlite3.Error, OSError, msgspec.MsgspecError) as error:
                log.warning("the index %s is unusable (%s): begun anew", self._index, error)
                self.indexed = Indexed("failed", 0, self.indexed.total)
                wait = RETRY
                await asyncio.to_thread(self._throw_away)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._overdue.wait()

    async def _catch_up(self) -> None:
        todo = await asyncio.to_thread(self._look_round)
        if todo.size > LITTLE or await asyncio.to_thread(self._is_unfinished):
            self.indexed = Indexed("building", todo.total - todo.size, todo.total)
            # what is held while thousands of sessions change leaves its memory full of holes
            del todo
            await asyncio.to_thread(self._build)
            todo = await asyncio.to_thread(self._look_round)
        if todo.size <= LITTLE:
            await asyncio.to_thread(self._take_in, [each.transcript for each in todo.stale])
        self.indexed = Indexed("ready", todo.total, todo.total)
        del todo
        await asyncio.to_thread(self._tidy_up)

    def _look_round(self) -> Backlog:
        with self._writer() as database:
            if too_many_dead(database):
                begin_anew(database)
            todo = backlog(database, self._roots, LITTLE)
            if todo.gone:
                write(database, [Reading(source, None, []) for source in todo.gone])
            return todo

    def _is_unfinished(self) -> bool:
        """Whether a build was ended before it had gathered the words."""
        with self._writer() as database:
            return lexicon.is_stale(database)

    def _tidy_up(self) -> None:
        """Everything was looked at: what that took is not needed until the next time."""
        self._let_go()
        give_back()

    def _build(self) -> None:
        """Leave it to a process that yields to everything else, and that ends when we do."""
        with self._writing:
            if self._closed:
                return
            # -P: no module of the directory in which the keeper happens to run
            command = [sys.executable, "-P", "-m", indexer.__name__]
            self._builder = subprocess.Popen(
                [*command, str(self._index), *map(str, self._roots)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        with self._builder as process:
            assert process.stdout is not None
            for line in process.stdout:
                done, total = (int(number) for number in line.split())
                self.indexed = Indexed("building", done, total)
        if process.returncode != 0 and not self._closed:
            raise OSError(f"the indexing process ended with {process.returncode}")

    # ---- what is new ----

    async def _follow(self) -> None:
        while True:
            await self._news.wait()
            await asyncio.sleep(SETTLE)
            self._news.clear()
            dirty, self._dirty = self._dirty, set()
            try:
                if not await asyncio.to_thread(self._take_in_new, dirty):
                    self._overdue.set()
            except (sqlite3.Error, OSError) as error:
                log.warning("what is new is not in the index yet: %s", error)
                self._overdue.set()

    def _take_in_new(self, paths: set[str]) -> bool:
        """Read on in these files; False where that is too much for this process."""
        found = list(self._named(paths))
        with self._writer() as database:
            if pending(database, found) > LITTLE:
                return False
        self._take_in(found)
        return True

    def _named(self, paths: set[str]) -> Iterator[Transcript]:
        for path in paths:
            transcript = None if Path(path).is_symlink() else recognised(path, self._roots)
            if transcript is not None:
                yield transcript
                if transcript.agent is None:
                    yield from subagents_of(path, transcript.session)

    def _take_in(self, transcripts: list[Transcript]) -> None:
        with self._writer() as database:
            for _ in work_off(database, transcripts):
                pass

    @contextlib.contextmanager
    def _writer(self) -> Iterator[sqlite3.Connection]:
        with self._writing:
            if self._closed:
                raise OSError("the index is closed")
            if self._database is None:
                self._database = open_index(self._index)
            yield self._database

    def _throw_away(self) -> None:
        self._let_go()
        discard(self._index)

    def _let_go(self) -> None:
        with self._writing:
            if self._database is not None:
                self._database.close()
                self._database = None


def _narrowed(database: sqlite3.Connection, filters: Filters) -> Filters:
    """The same, with the working directories that lie within the given ones by name."""
    if filters.within is None:
        return filters
    allowed = inside(workdirs(database), filters.within)
    if filters.workdirs is not None:
        allowed &= filters.workdirs
    return msgspec.structs.replace(filters, workdirs=allowed)
