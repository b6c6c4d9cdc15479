"""What was learned about transcripts, kept for the next start. It can be deleted at any time."""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import TypeVar

import msgspec

from claudekeeper.files import private_folder
from claudekeeper.model.activity import Asked
from claudekeeper.model.facts import Share
from claudekeeper.model.summary import unpack_account, unpack_diary
from claudekeeper.readers import accounts
from claudekeeper.readers.accounts import Claim, Kept, Sums
from claudekeeper.readers.discovery import Row
from claudekeeper.readers.moments import Moment, Prompt

T = TypeVar("T")
# rows by the path of their transcript, by the folder they lie in
Shelf = dict[str, Row]
Shelves = dict[str, Shelf]
# when a folder last changed: with every file that comes or goes
Times = dict[str, int]

log = logging.getLogger(__name__)

# Raised whenever what is kept changes its shape or its meaning.
VERSION = 19

_TABLES = (
    """
-- one row a folder: a start reads all of them, and thousands of small rows would take their time
CREATE TABLE IF NOT EXISTS shelf (folder TEXT PRIMARY KEY, time INTEGER, rows BLOB NOT NULL);
-- one row a transcript: needed only when that one has grown
CREATE TABLE IF NOT EXISTS fold (path TEXT PRIMARY KEY, folded BLOB NOT NULL);
-- what transcripts of projects with a checklist cover of it
CREATE TABLE IF NOT EXISTS coverage (path TEXT PRIMARY KEY, folded BLOB NOT NULL);
"""
    + accounts.TABLES
)

_rows = msgspec.msgpack.Decoder(list[Row])
_encode = msgspec.msgpack.Encoder().encode


class Cache:
    """Rows and folds in one SQLite file. A broken file is thrown away and begun anew."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._database: sqlite3.Connection | None = None
        self._closed = False

    def load(self) -> tuple[Shelves, Times]:
        """Every row that was saved, and when each folder had last changed by then."""

        def read(database: sqlite3.Connection) -> tuple[Shelves, Times]:
            shelves: Shelves = {}
            times: Times = {}
            for folder, time, rows in database.execute("SELECT folder, time, rows FROM shelf"):
                # the path stands in the row: told once, held once
                shelves[folder] = {row.found.path: row for row in _rows.decode(rows)}
                times[folder] = time
            return shelves, times

        nothing: tuple[Shelves, Times] = ({}, {})
        # the first start ever has nothing to wait for
        return self._use(read, nothing) if self._path.exists() else nothing

    def fold(self, path: str) -> bytes | None:
        """What the fold of one transcript remembered, packed."""
        return self._use(lambda database: _fold_at(database, path), None)

    def save(
        self,
        shelves: Mapping[str, Shelf],
        times: Mapping[str, int],
        folds: Mapping[str, bytes | None],
    ) -> None:
        """Keep these shelves as they are; an empty one, and a fold that is None, is forgotten."""
        full = [
            (folder, times.get(folder), _encode([row.packed() for row in shelf.values()]))
            for folder, shelf in shelves.items()
            if shelf
        ]
        empty = [(folder,) for folder, shelf in shelves.items() if not shelf]
        kept = [(path, fold) for path, fold in folds.items() if fold is not None]
        lost = [(path,) for path, fold in folds.items() if fold is None]

        def write(database: sqlite3.Connection) -> None:
            with database:
                database.executemany("INSERT OR REPLACE INTO shelf VALUES (?, ?, ?)", full)
                database.executemany("DELETE FROM shelf WHERE folder = ?", empty)
                database.executemany("INSERT OR REPLACE INTO fold VALUES (?, ?)", kept)
                database.executemany("DELETE FROM fold WHERE path = ?", lost)

        self._use(write, None)

    # ---- what is covered ----

    def coverage(self, path: str) -> bytes | None:
        """What a transcript covers of its project's checklist, packed."""

        def read(database: sqlite3.Connection) -> bytes | None:
            found = database.execute("SELECT folded FROM coverage WHERE path = ?", (path,))
            row = found.fetchone()
            return row[0] if row else None

        return self._use(read, None)

    def keep_coverage(self, folds: Mapping[str, bytes | None]) -> None:
        """What is None is forgotten."""

        def write(database: sqlite3.Connection) -> None:
            kept = [(path, fold) for path, fold in folds.items() if fold is not None]
            lost = [(path,) for path, fold in folds.items() if fold is None]
            with database:
                database.executemany("INSERT OR REPLACE INTO coverage VALUES (?, ?)", kept)
                database.executemany("DELETE FROM coverage WHERE path = ?", lost)

        if folds:
            self._use(write, None)

    # ---- what was used ----

    def keep(self, folds: Mapping[str, bytes]) -> None:
        """What the folds of files remember that no list has read."""

        def write(database: sqlite3.Connection) -> None:
            with database:
                database.executemany("INSERT OR REPLACE INTO fold VALUES (?, ?)", [*folds.items()])

        if folds:
            self._use(write, None)

    def claim(self, claims: Sequence[Claim]) -> None:
        """Count the replies of these files."""

        def write(database: sqlite3.Connection) -> None:
            # many small pieces all over the file: for as long as this takes, they may stay
            database.execute("PRAGMA cache_size = -2048")
            with database:
                for each in claims:
                    accounts.claim(database, each, lambda path: _kept_at(database, path))
            database.execute("PRAGMA cache_size = -256")

        if claims:
            self._use(write, None)

    def release(self, paths: Sequence[str]) -> None:
        """These files are gone."""

        def write(database: sqlite3.Connection) -> None:
            with database:
                for path in paths:
                    accounts.release(database, path, lambda each: _kept_at(database, each))

        if paths:
            self._use(write, None)

    def versions(self, paths: Sequence[str]) -> dict[str, str]:
        return self._use(lambda database: accounts.versions(database, paths), {})

    def counted(self) -> list[str]:
        return self._use(accounts.paths, list[str]())

    def sharing(self, path: str) -> list[str]:
        """The files that have replies of this one."""
        return self._use(lambda database: accounts.sharing(database, path), list[str]())

    def shares(self, session: str) -> list[Share]:
        """What each of its subagents did."""
        return self._use(lambda database: accounts.shares(database, session), list[Share]())

    def workdirs(self) -> list[str]:
        return self._use(accounts.workdirs, [])

    def sums(
        self, by: str, after: str | None, before: str | None, allowed: Iterable[str] | None
    ) -> list[Sums]:
        return self._use(
            lambda database: accounts.sums(database, by, after, before, allowed), list[Sums]()
        )

    # ---- what was done when; hours are local, and `before` is not among them ----

    def done(self, after: str, before: str, allowed: Iterable[str] | None) -> list[Moment]:
        return self._use(
            lambda database: accounts.done(database, after, before, allowed), list[Moment]()
        )

    def done_beside(self, session: str, after: str, before: str) -> list[Moment]:
        return self._use(
            lambda database: accounts.done_beside(database, session, after, before), list[Moment]()
        )

    def asked(
        self, after: str, before: str, allowed: Iterable[str] | None, limit: int
    ) -> list[Prompt]:
        def read(database: sqlite3.Connection) -> list[Prompt]:
            def asked_in(path: str) -> list[Asked]:
                fold = _fold_at(database, path)
                return unpack_diary(fold).asked if fold is not None else []

            return accounts.asked(database, after, before, allowed, limit, asked_in)

        return self._use(read, list[Prompt]())

    def rest(self) -> None:
        """Let go of what much work has gathered; the next one to ask opens it again."""
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None

    def close(self) -> None:
        """For good: a thread that comes later finds it shut."""
        self._closed = True
        self.rest()

    def _use(self, action: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """Do it in the database. What fails there is said in the log: a cache is never needed."""
        with self._lock:
            if self._closed:
                return otherwise
            try:
                if self._database is None:
                    self._database = self._open()
                return action(self._database)
            except (sqlite3.DatabaseError, msgspec.MsgspecError, OSError) as error:
                log.warning("the cache %s is unusable (%s): begun anew", self._path, error)
                self._discard()
                return otherwise

    def _open(self) -> sqlite3.Connection:
        private_folder(self._path.parent)
        # created with its mode, so that no umask can open it to others
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        database = sqlite3.connect(self._path, check_same_thread=False)
        try:
            # what is kept is large pieces; a file that is there already keeps its own size
            database.execute("PRAGMA page_size = 32768")
            database.execute("PRAGMA journal_mode = WAL")
            # a lost cache costs a reading, so it may be lazy about the disk
            database.execute("PRAGMA synchronous = OFF")
            # kilobytes; what is read once at a start need not stay in memory
            database.execute("PRAGMA cache_size = -256")
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version != VERSION:
                for name in ("shelf", "fold", "coverage", *accounts.NAMES):
                    database.execute(f"DROP TABLE IF EXISTS {name}")
                database.execute(f"PRAGMA user_version = {VERSION}")
                database.executescript(_TABLES)
            with database:
                accounts.settle_zone(database)
        except sqlite3.DatabaseError:
            database.close()
            raise
        return database

    def _discard(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None
        for name in (self._path.name, self._path.name + "-wal", self._path.name + "-shm"):
            with contextlib.suppress(OSError):
                self._path.with_name(name).unlink()


def _fold_at(database: sqlite3.Connection, path: str) -> bytes | None:
    found = database.execute("SELECT folded FROM fold WHERE path = ?", (path,)).fetchone()
    return found[0] if found else None


def _kept_at(database: sqlite3.Connection, path: str) -> Kept | None:
    fold = _fold_at(database, path)
    if fold is None:
        return None
    account = unpack_account(fold)
    return account.replies, account.activity
