"""What was learned about transcripts, kept for the next start. It can be deleted at any time."""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock
from typing import TypeVar

import msgspec

from claudekeeper.model.summary import Folded
from claudekeeper.readers.discovery import Row

T = TypeVar("T")
# rows by the path of their transcript, by the folder they lie in
Shelf = dict[str, Row]
Shelves = dict[str, Shelf]

log = logging.getLogger(__name__)

# Raised whenever what is kept changes its shape or its meaning.
VERSION = 5

_TABLES = """
-- one row a folder: a start reads all of them, and thousands of small rows would take their time
CREATE TABLE IF NOT EXISTS shelf (folder TEXT PRIMARY KEY, rows BLOB NOT NULL);
-- one row a transcript: needed only when that one has grown
CREATE TABLE IF NOT EXISTS fold (path TEXT PRIMARY KEY, folded BLOB NOT NULL);
"""

_shelf = msgspec.msgpack.Decoder(Shelf)
_folded = msgspec.msgpack.Decoder(Folded)
_encode = msgspec.msgpack.Encoder().encode


class Cache:
    """Rows and folds in one SQLite file. A broken file is thrown away and begun anew."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._database: sqlite3.Connection | None = None

    def load(self) -> Shelves:
        """Every row that was saved."""

        def read(database: sqlite3.Connection) -> Shelves:
            return {
                folder: _shelf.decode(rows)
                for folder, rows in database.execute("SELECT folder, rows FROM shelf")
            }

        # the first start ever has nothing to wait for
        return self._use(read, {}) if self._path.exists() else {}

    def folded(self, path: str) -> Folded | None:
        """What the fold of one transcript remembered."""

        def read(database: sqlite3.Connection) -> Folded | None:
            found = database.execute("SELECT folded FROM fold WHERE path = ?", (path,)).fetchone()
            return _folded.decode(found[0]) if found else None

        return self._use(read, None)

    def save(self, shelves: Mapping[str, Shelf], folds: Mapping[str, Folded | None]) -> None:
        """Keep these shelves as they are; an empty one, and a fold that is None, is forgotten."""
        full = [
            (folder, _encode({path: row.packed() for path, row in shelf.items()}))
            for folder, shelf in shelves.items()
            if shelf
        ]
        empty = [(folder,) for folder, shelf in shelves.items() if not shelf]
        kept = [(path, _encode(folded)) for path, folded in folds.items() if folded is not None]
        lost = [(path,) for path, folded in folds.items() if folded is None]

        def write(database: sqlite3.Connection) -> None:
            with database:
                database.executemany("INSERT OR REPLACE INTO shelf VALUES (?, ?)", full)
                database.executemany("DELETE FROM shelf WHERE folder = ?", empty)
                database.executemany("INSERT OR REPLACE INTO fold VALUES (?, ?)", kept)
                database.executemany("DELETE FROM fold WHERE path = ?", lost)

        self._use(write, None)

    def close(self) -> None:
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None

    def _use(self, action: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """Do it in the database. What fails there is said in the log: a cache is never needed."""
        with self._lock:
            try:
                if self._database is None:
                    self._database = self._open()
                return action(self._database)
            except (sqlite3.DatabaseError, msgspec.MsgspecError, OSError) as error:
                log.warning("the cache %s is unusable (%s): begun anew", self._path, error)
                self._discard()
                return otherwise

    def _open(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        # created with its mode, so that no umask can open it to others
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        database = sqlite3.connect(self._path, check_same_thread=False)
        try:
            database.execute("PRAGMA journal_mode = WAL")
            # a lost cache costs a reading, so it may be lazy about the disk
            database.execute("PRAGMA synchronous = OFF")
            # kilobytes; what is read once at a start need not stay in memory
            database.execute("PRAGMA cache_size = -256")
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version != VERSION:
                database.execute("DROP TABLE IF EXISTS shelf")
                database.execute("DROP TABLE IF EXISTS fold")
                database.execute(f"PRAGMA user_version = {VERSION}")
                database.executescript(_TABLES)
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
