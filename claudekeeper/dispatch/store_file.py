"""The SQLite file of conversations: opened, migrated, or quarantined when it is corrupt."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from claudekeeper.contract.errors import StateUnwritable
from claudekeeper.core.atomic_files import make_private_folder, quarantine

# of the placeholders of a statement, by position or by name
Values = Sequence[object] | Mapping[str, object]

log = logging.getLogger(__name__)

VERSION = 2

# `project` is "" for items without one: to SQLite every NULL in a key is different
_CONVERSATION_TABLE = """
CREATE TABLE conversation (
  key TEXT NOT NULL, project TEXT NOT NULL, workdir TEXT NOT NULL, session TEXT, prompt TEXT,
  primer TEXT, metadata TEXT NOT NULL, created REAL NOT NULL, updated REAL NOT NULL,
  expires REAL NOT NULL, lifetime REAL NOT NULL, window INTEGER NOT NULL, model TEXT,
  dispatches INTEGER NOT NULL, done INTEGER NOT NULL, full INTEGER NOT NULL,
  tokens INTEGER NOT NULL, cost REAL NOT NULL, ceilings TEXT NOT NULL, allowed TEXT NOT NULL,
  question TEXT, ended REAL,
  PRIMARY KEY (key, project)
) WITHOUT ROWID;
CREATE INDEX conversation_updated ON conversation (updated);
CREATE INDEX conversation_expires ON conversation (expires);
"""
_TABLES = f"""
{_CONVERSATION_TABLE}
CREATE TABLE earlier (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL, session TEXT NOT NULL, ended REAL NOT NULL,
  why TEXT NOT NULL, details TEXT, project TEXT NOT NULL DEFAULT ''
);
CREATE INDEX earlier_key ON earlier (key);
CREATE TABLE act (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL, at REAL NOT NULL, what TEXT NOT NULL, details TEXT,
  project TEXT NOT NULL DEFAULT ''
);
CREATE INDEX act_key ON act (key);
-- the audit trail: kept when a conversation is forgotten
CREATE TABLE dispatch (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL, session TEXT NOT NULL, uuid TEXT NOT NULL,
  at REAL NOT NULL, how TEXT NOT NULL, text TEXT NOT NULL, outcome TEXT, tokens INTEGER,
  cost REAL, finished REAL, project TEXT NOT NULL DEFAULT '', used INTEGER
);
CREATE INDEX dispatch_key ON dispatch (key);
"""
# Version 1 had one conversation for a key: its rows go to the project of that conversation. Rows of
# an earlier conversation of the key, which was forgotten, go to no project.
_MIGRATION_FROM_1 = """
ALTER TABLE conversation RENAME TO conversation_1;
DROP INDEX conversation_updated;
DROP INDEX conversation_expires;
@TABLE@
INSERT INTO conversation
SELECT key, coalesce(project, ''), workdir, session, prompt, primer, metadata, created, updated,
  expires, lifetime, tokens, model, dispatches, done, full,
  (SELECT coalesce(sum(tokens), 0) FROM dispatch AS d WHERE d.key = old.key AND at >= created),
  (SELECT coalesce(sum(cost), 0.0) FROM dispatch AS d WHERE d.key = old.key AND at >= created),
  '{}', '{}', NULL, NULL
FROM conversation_1 AS old;
DROP TABLE conversation_1;
ALTER TABLE earlier ADD COLUMN project TEXT NOT NULL DEFAULT '';
ALTER TABLE act ADD COLUMN project TEXT NOT NULL DEFAULT '';
ALTER TABLE dispatch ADD COLUMN project TEXT NOT NULL DEFAULT '';
ALTER TABLE dispatch ADD COLUMN used INTEGER;
UPDATE earlier SET project = coalesce(
  (SELECT project FROM conversation AS c WHERE c.key = earlier.key), '');
UPDATE act SET project = coalesce(
  (SELECT project FROM conversation AS c WHERE c.key = act.key), '');
UPDATE dispatch SET project = coalesce(
  (SELECT project FROM conversation AS c WHERE c.key = dispatch.key AND dispatch.at >= c.created),
  '');
""".replace("@TABLE@", _CONVERSATION_TABLE)
# created for older files too
_INDEXES = """
CREATE INDEX IF NOT EXISTS dispatch_uuid ON dispatch (uuid);
CREATE INDEX IF NOT EXISTS dispatch_open ON dispatch (id) WHERE outcome IS NULL;
CREATE INDEX IF NOT EXISTS dispatch_session ON dispatch (session);
CREATE INDEX IF NOT EXISTS dispatch_at ON dispatch (at);
CREATE INDEX IF NOT EXISTS earlier_session ON earlier (session);
"""
_MIGRATIONS = {0: _TABLES, 1: _MIGRATION_FROM_1}


class StoreFile:
    """One SQLite file. Every method blocks: call it in a thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._database: sqlite3.Connection | None = None
        # why the last attempt to open it failed
        self._open_fault = ""

    def open(self) -> None:
        """Opens the file; a corrupt one is quarantined, and turns under way become unknown.

        On a full disk the file stays as it is, the keeper starts without it, and the next use
        tries again.
        """
        with self._lock:
            self._open()

    def close(self) -> None:
        with self._lock:
            self._open_fault = ""
            self._close()

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            if self._database is None and self._open_fault:
                self._open()
            if self._database is None:
                raise StateUnwritable(
                    "The database of conversations cannot be opened; the log says why."
                )
            try:
                yield self._database
            except sqlite3.OperationalError as error:
                raise StateUnwritable(
                    f"The database of conversations cannot be used now ({error})."
                ) from error

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._connection() as database, database:
            yield database

    def _select(self, query: str, values: Values = ()) -> list[Any]:
        with self._connection() as database:
            return database.execute(query, values).fetchall()

    def _execute(self, statement: str, values: Values = ()) -> int:
        """Runs one statement in a transaction; returns how many rows it changed."""
        with self._transaction() as database:
            return database.execute(statement, values).rowcount

    def _open(self) -> None:
        try:
            if self._path.exists() and not self._path.is_file():
                log.warning("%s is not a file: kept as %s", self._path, quarantine(self._path))
            database = self._database = self._open_or_recreate()
            with database:
                database.execute("UPDATE dispatch SET outcome = 'unknown' WHERE outcome IS NULL")
            self._open_fault = ""
        except (OSError, sqlite3.OperationalError) as error:
            self._close()
            if str(error) != self._open_fault:
                log.warning("%s cannot be opened (%s): dispatches are refused", self._path, error)
            self._open_fault = str(error)

    def _close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    def _open_or_recreate(self) -> sqlite3.Connection:
        try:
            return self._connect()
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError as error:
            aside = quarantine(self._path)
            log.warning(
                "%s is corrupt (%s): kept as %s, and a new one is begun", self._path, error, aside
            )
            for suffix in ("-wal", "-shm"):
                part = self._path.with_name(self._path.name + suffix)
                if part.exists():
                    part.rename(aside.with_name(aside.name + suffix))
            return self._connect()

    def _connect(self) -> sqlite3.Connection:
        make_private_folder(self._path.parent)
        # created with its mode, whatever the umask is
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        database = sqlite3.connect(self._path, check_same_thread=False)
        try:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = FULL")
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version > VERSION:
                # a newer keeper wrote it and may run again
                raise sqlite3.OperationalError(f"it has version {version}, newer than {VERSION}")
            if version in _MIGRATIONS:
                # one transaction, so that a kill leaves the old version whole
                database.executescript(
                    f"BEGIN; {_MIGRATIONS[version]} PRAGMA user_version = {VERSION}; COMMIT;"
                )
            database.executescript(_INDEXES)
        except sqlite3.DatabaseError:
            database.close()
            raise
        return database
