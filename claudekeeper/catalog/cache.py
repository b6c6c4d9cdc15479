"""The cache: what was read from transcripts, for the next start. It can be deleted at any time."""

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

from claudekeeper.analysis.activity import PromptAt
from claudekeeper.analysis.session_facts import SubagentShare
from claudekeeper.analysis.summary import unpack_activity, unpack_usage
from claudekeeper.catalog import usage_tables
from claudekeeper.catalog.discovery import SessionRow
from claudekeeper.catalog.hourly_tables import HourSums, SessionPrompt
from claudekeeper.catalog.usage_tables import FileUsage, StoredUsage, UsageSums
from claudekeeper.core.atomic_files import make_private_folder

T = TypeVar("T")
# rows by the path of their transcript, by the folder they lie in
FolderRows = dict[str, SessionRow]
RowsByFolder = dict[str, FolderRows]
# when a folder last changed, which it does with every new or deleted file
FolderTimes = dict[str, int]

log = logging.getLogger(__name__)

# raised when the shape or meaning of what is stored changes
VERSION = 20

_TABLES = (
    """
-- one row a folder: a start reads all of them, and thousands of small rows would take longer
CREATE TABLE IF NOT EXISTS shelf (folder TEXT PRIMARY KEY, time INTEGER, rows BLOB NOT NULL);
-- one row a transcript, needed only when it has grown
CREATE TABLE IF NOT EXISTS fold (path TEXT PRIMARY KEY, folded BLOB NOT NULL);
-- what transcripts of projects with a checklist cover of it
CREATE TABLE IF NOT EXISTS coverage (path TEXT PRIMARY KEY, folded BLOB NOT NULL);
"""
    + usage_tables.TABLES
)

_rows_decoder = msgspec.msgpack.Decoder(list[SessionRow])
_encode = msgspec.msgpack.Encoder().encode


class Cache:
    """Rows and folds in one SQLite file. A broken file is deleted and made anew."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._database: sqlite3.Connection | None = None
        self._closed = False

    def load(self) -> tuple[RowsByFolder, FolderTimes]:
        """Every row that was saved, and when each folder had last changed by then."""

        def read(database: sqlite3.Connection) -> tuple[RowsByFolder, FolderTimes]:
            rows_by_folder: RowsByFolder = {}
            times: FolderTimes = {}
            for folder, time, rows in database.execute("SELECT folder, time, rows FROM shelf"):
                # the path is in the row: one string for both
                rows_by_folder[folder] = {row.file.path: row for row in _rows_decoder.decode(rows)}
                times[folder] = time
            return rows_by_folder, times

        nothing: tuple[RowsByFolder, FolderTimes] = ({}, {})
        # the first start ever needs no database
        return self._with_database(read, nothing) if self._path.exists() else nothing

    def load_fold(self, path: str) -> bytes | None:
        """The fold of one transcript, packed."""
        return self._with_database(lambda database: _read_fold(database, path), None)

    def save(
        self,
        rows_by_folder: Mapping[str, FolderRows],
        times: Mapping[str, int],
        folds: Mapping[str, bytes | None],
    ) -> None:
        """Save the rows of folders, and folds; an empty folder and a None fold are deleted."""
        folders = [
            (folder, times.get(folder), _encode([row.pack() for row in rows.values()]))
            for folder, rows in rows_by_folder.items()
            if rows
        ]
        empty = [(folder,) for folder, rows in rows_by_folder.items() if not rows]
        saved = [(path, fold) for path, fold in folds.items() if fold is not None]
        deleted = [(path,) for path, fold in folds.items() if fold is None]

        def write(database: sqlite3.Connection) -> None:
            with database:
                database.executemany("INSERT OR REPLACE INTO shelf VALUES (?, ?, ?)", folders)
                database.executemany("DELETE FROM shelf WHERE folder = ?", empty)
                database.executemany("INSERT OR REPLACE INTO fold VALUES (?, ?)", saved)
                database.executemany("DELETE FROM fold WHERE path = ?", deleted)

        self._with_database(write, None)

    # ---- coverage ----

    def load_coverage(self, path: str) -> bytes | None:
        """What a transcript covers of its project's checklist, packed."""

        def read(database: sqlite3.Connection) -> bytes | None:
            cursor = database.execute("SELECT folded FROM coverage WHERE path = ?", (path,))
            row = cursor.fetchone()
            return row[0] if row else None

        return self._with_database(read, None)

    def save_coverage(self, folds: Mapping[str, bytes | None]) -> None:
        """Save these folds; one that is None is deleted."""

        def write(database: sqlite3.Connection) -> None:
            saved = [(path, fold) for path, fold in folds.items() if fold is not None]
            deleted = [(path,) for path, fold in folds.items() if fold is None]
            with database:
                database.executemany("INSERT OR REPLACE INTO coverage VALUES (?, ?)", saved)
                database.executemany("DELETE FROM coverage WHERE path = ?", deleted)

        if folds:
            self._with_database(write, None)

    # ---- usage ----

    def save_folds(self, folds: Mapping[str, bytes]) -> None:
        """Save the folds of files that are in no list."""

        def write(database: sqlite3.Connection) -> None:
            with database:
                database.executemany("INSERT OR REPLACE INTO fold VALUES (?, ?)", [*folds.items()])

        if folds:
            self._with_database(write, None)

    def add_usage(self, claims: Sequence[FileUsage]) -> None:
        """Count the replies of these files."""

        def write(database: sqlite3.Connection) -> None:
            # this writes to many pages all over the file: more of them may stay in memory meanwhile
            database.execute("PRAGMA cache_size = -2048")
            with database:
                for each in claims:
                    usage_tables.add_usage(database, each, lambda path: _read_usage(database, path))
            database.execute("PRAGMA cache_size = -256")

        if claims:
            self._with_database(write, None)

    def remove_usage(self, paths: Sequence[str]) -> None:
        """Forget the replies of these files, which are gone."""

        def write(database: sqlite3.Connection) -> None:
            with database:
                for path in paths:
                    usage_tables.remove_usage(
                        database, path, lambda each: _read_usage(database, each)
                    )

        if paths:
            self._with_database(write, None)

    def usage_versions(self, paths: Sequence[str]) -> dict[str, str]:
        return self._with_database(
            lambda database: usage_tables.usage_versions(database, paths), {}
        )

    def usage_paths(self) -> list[str]:
        return self._with_database(usage_tables.usage_paths, list[str]())

    def paths_sharing_replies(self, path: str) -> list[str]:
        """The files that have replies of this one, too."""
        return self._with_database(
            lambda database: usage_tables.paths_sharing_replies(database, path), list[str]()
        )

    def subagent_shares(self, session: str) -> list[SubagentShare]:
        """What each subagent of a session did."""
        return self._with_database(
            lambda database: usage_tables.subagent_shares(database, session), list[SubagentShare]()
        )

    def usage_workdirs(self) -> list[str]:
        return self._with_database(usage_tables.usage_workdirs, [])

    def usage_sums(
        self, by: str, after: str | None, before: str | None, allowed: Iterable[str] | None
    ) -> list[UsageSums]:
        return self._with_database(
            lambda database: usage_tables.usage_sums(database, by, after, before, allowed),
            list[UsageSums](),
        )

    # ---- activity by hour; hours are local, `before` is not included ----

    def activity_by_hour(
        self, after: str, before: str, allowed: Iterable[str] | None
    ) -> list[HourSums]:
        return self._with_database(
            lambda database: usage_tables.activity_by_hour(database, after, before, allowed),
            list[HourSums](),
        )

    def subagent_activity_by_hour(self, session: str, after: str, before: str) -> list[HourSums]:
        return self._with_database(
            lambda database: usage_tables.subagent_activity_by_hour(
                database, session, after, before
            ),
            list[HourSums](),
        )

    def first_prompts(
        self, after: str, before: str, allowed: Iterable[str] | None, limit: int
    ) -> list[SessionPrompt]:
        def read(database: sqlite3.Connection) -> list[SessionPrompt]:
            def prompts_in(path: str) -> list[PromptAt]:
                fold = _read_fold(database, path)
                return unpack_activity(fold).prompts if fold is not None else []

            return usage_tables.first_prompts(database, after, before, allowed, limit, prompts_in)

        return self._with_database(read, list[SessionPrompt]())

    def disconnect(self) -> None:
        """Close the database to free its memory; the next use opens it again."""
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None

    def close(self) -> None:
        """Close it for good, also for threads that still want to use it."""
        self._closed = True
        self.disconnect()

    def _with_database(self, action: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """Run an action on the database. An error is only logged: no answer needs the cache."""
        with self._lock:
            if self._closed:
                return otherwise
            try:
                if self._database is None:
                    self._database = self._open()
                return action(self._database)
            except (sqlite3.DatabaseError, msgspec.MsgspecError, OSError) as error:
                log.warning("the cache %s is unusable (%s) and is made anew", self._path, error)
                self._discard()
                return otherwise

    def _open(self) -> sqlite3.Connection:
        make_private_folder(self._path.parent)
        # created with its mode: no umask can make it readable for others
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        database = sqlite3.connect(self._path, check_same_thread=False)
        try:
            # the values are large; an existing file keeps the size that it has
            database.execute("PRAGMA page_size = 32768")
            database.execute("PRAGMA journal_mode = WAL")
            # a lost cache only costs time
            database.execute("PRAGMA synchronous = OFF")
            # kilobytes; what a start reads is needed only once
            database.execute("PRAGMA cache_size = -256")
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version != VERSION:
                for name in ("shelf", "fold", "coverage", *usage_tables.TABLE_NAMES):
                    database.execute(f"DROP TABLE IF EXISTS {name}")
                database.execute(f"PRAGMA user_version = {VERSION}")
                database.executescript(_TABLES)
            with database:
                usage_tables.reset_on_new_zone(database)
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


def _read_fold(database: sqlite3.Connection, path: str) -> bytes | None:
    row = database.execute("SELECT folded FROM fold WHERE path = ?", (path,)).fetchone()
    return row[0] if row else None


def _read_usage(database: sqlite3.Connection, path: str) -> StoredUsage | None:
    fold = _read_fold(database, path)
    if fold is None:
        return None
    account = unpack_usage(fold)
    return account.replies, account.activity
