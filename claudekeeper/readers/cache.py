"""What was learned about transcripts, kept for the next start. It can be deleted at any time."""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import msgspec

from claudekeeper.model.summary import Folded
from claudekeeper.readers.discovery import Fault, Found, Row

T = TypeVar("T")

log = logging.getLogger(__name__)

# Raised whenever what is kept changes its shape or its meaning.
VERSION = 2

_TABLE = """
CREATE TABLE IF NOT EXISTS session (
  path TEXT PRIMARY KEY, id TEXT NOT NULL, inode INTEGER NOT NULL, size INTEGER NOT NULL,
  mtime INTEGER NOT NULL, counted INTEGER NOT NULL, is_session INTEGER NOT NULL,
  summary BLOB NOT NULL, fault BLOB, folded BLOB
) WITHOUT ROWID
"""
_LOAD = "SELECT id, path, inode, size, mtime, summary, counted, is_session, fault FROM session"
_FORGET = "DELETE FROM session WHERE path = ?"
_SAVE = """
INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (path) DO UPDATE SET
  id = excluded.id, inode = excluded.inode, size = excluded.size, mtime = excluded.mtime,
  counted = excluded.counted, is_session = excluded.is_session,
  summary = excluded.summary, fault = excluded.fault, folded = excluded.folded
"""

_fault = msgspec.msgpack.Decoder(Fault)
_folded = msgspec.msgpack.Decoder(Folded)
_encode = msgspec.msgpack.Encoder().encode


class Cache:
    """Rows by path, in one SQLite file. A broken file is thrown away and begun anew."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._database: sqlite3.Connection | None = None

    def load(self) -> dict[str, Row]:
        """Every row, by the path of its transcript."""

        def read(database: sqlite3.Connection) -> dict[str, Row]:
            return {
                place[1]: Row(
                    Found(*place),
                    summary,
                    bool(counted),
                    bool(is_session),
                    _fault.decode(fault) if fault else None,
                )
                for *place, summary, counted, is_session, fault in database.execute(_LOAD)
            }

        # the first start ever has nothing to wait for
        return self._use(read, {}) if self._path.exists() else {}

    def folded(self, path: str) -> Folded | None:
        """What the fold of one transcript remembered."""

        def read(database: sqlite3.Connection) -> Folded | None:
            found = database.execute("SELECT folded FROM session WHERE path = ?", (path,))
            row = found.fetchone()
            return _folded.decode(row[0]) if row and row[0] else None

        return self._use(read, None)

    def save(self, rows: Iterable[tuple[Row, Folded | None]]) -> None:
        values = [
            (
                row.found.path,
                row.found.id,
                row.found.inode,
                row.found.size,
                row.found.mtime,
                row.counted,
                row.is_session,
                row.packed(),
                _encode(row.fault) if row.fault else None,
                _encode(folded) if folded else None,
            )
            for row, folded in rows
        ]
        self._use(lambda database: _write(database, _SAVE, values), None)

    def forget(self, paths: Iterable[str]) -> None:
        values = [(path,) for path in paths]
        self._use(lambda database: _write(database, _FORGET, values), None)

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
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version != VERSION:
                database.execute("DROP TABLE IF EXISTS session")
                database.execute(f"PRAGMA user_version = {VERSION}")
            database.execute(_TABLE)
            database.commit()
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


def _write(database: sqlite3.Connection, statement: str, values: list[tuple[Any, ...]]) -> None:
    with database:
        database.executemany(statement, values)
