"""The book of conversations for work: one SQLite file in the keeper's home, whole after any end."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

import msgspec

from claudekeeper.files import private_folder, set_aside
from claudekeeper.model.dispatch import Act, Earlier, How, Logged, What, Why, WorkState
from claudekeeper.model.errors import StateUnwritable

log = logging.getLogger(__name__)

VERSION = 1
# what of a dispatch's words stands in the audit trail
MOST_TEXT = 2_000
LOGGED = 100

_TABLES = """
CREATE TABLE conversation (
  key TEXT PRIMARY KEY, project TEXT, workdir TEXT NOT NULL, session TEXT, prompt TEXT,
  primer TEXT, metadata TEXT NOT NULL, created REAL NOT NULL, updated REAL NOT NULL,
  expires REAL NOT NULL, lifetime REAL NOT NULL, tokens INTEGER NOT NULL, model TEXT,
  dispatches INTEGER NOT NULL, done INTEGER NOT NULL, full INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX conversation_updated ON conversation (updated);
CREATE INDEX conversation_expires ON conversation (expires);
CREATE TABLE earlier (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL, session TEXT NOT NULL, ended REAL NOT NULL,
  why TEXT NOT NULL, details TEXT
);
CREATE INDEX earlier_key ON earlier (key);
CREATE TABLE act (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL, at REAL NOT NULL, what TEXT NOT NULL, details TEXT
);
CREATE INDEX act_key ON act (key);
-- the audit trail: kept when a conversation is forgotten
CREATE TABLE dispatch (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL, session TEXT NOT NULL, uuid TEXT NOT NULL,
  at REAL NOT NULL, how TEXT NOT NULL, text TEXT NOT NULL, outcome TEXT, tokens INTEGER,
  cost REAL, finished REAL
);
CREATE INDEX dispatch_key ON dispatch (key);
"""
# also for files that were made before there were these
_LATER = """
CREATE INDEX IF NOT EXISTS dispatch_uuid ON dispatch (uuid);
CREATE INDEX IF NOT EXISTS dispatch_open ON dispatch (id) WHERE outcome IS NULL;
"""
_PUT = """
INSERT OR REPLACE INTO conversation VALUES (
  :key, :project, :workdir, :session, :prompt, :primer, :metadata, :created, :updated, :expires,
  :lifetime, :tokens, :model, :dispatches, :done, :full
)
"""


_ALL = """
SELECT * FROM conversation
WHERE (?1 IS NULL OR project = ?1)
  AND (?2 IS NULL OR (updated, key) < (?2, ?3))
  AND (
    ?4 IS NULL
    OR ?4 = 'active' AND (session IS NOT NULL OR primer IS NOT NULL)
    OR ?4 = 'expired' AND expires <= ?5
    OR ?4 = 'reset' AND expires > ?5 AND session IS NULL AND primer IS NULL
  )
ORDER BY updated DESC, key DESC LIMIT ?6
"""
_LOGGED = "at, session, uuid, how, text, outcome, tokens, cost, finished FROM dispatch"

# where a conversation stands in the list: when it was used, and its key
Place = tuple[float, str]


class Kept(msgspec.Struct, kw_only=True):
    """A conversation as it is written down; times in seconds since the epoch."""

    key: str
    project: str | None
    workdir: str
    session: str | None
    prompt: str | None
    # what a successor session is told beside its persona
    primer: str | None = None
    metadata: dict[str, Any]
    created: float
    updated: float
    expires: float
    lifetime: float
    tokens: int = 0
    model: str | None = None
    dispatches: int = 0
    # turns of this session that were seen through
    done: int = 0
    # whether it reached the threshold, and nothing was done about that yet
    full: bool = False


class Book:
    """Every method blocks: call it in a thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._database: sqlite3.Connection | None = None
        # why it could not be opened when that was last tried
        self._fault = ""

    def open(self) -> None:
        """A file that cannot be used is set aside, and said so; turns under way are unknown now.

        Where the disk takes nothing more, the file stays as it is, the keeper starts without it,
        and whoever needs it tries again.
        """
        with self._lock:
            self._open()

    def _open(self) -> None:
        try:
            if self._path.exists() and not self._path.is_file():
                log.warning("%s is no file: kept as %s", self._path, set_aside(self._path))
            database = self._database = self._usable()
            with database:
                database.execute("UPDATE dispatch SET outcome = 'unknown' WHERE outcome IS NULL")
            self._fault = ""
        except (OSError, sqlite3.OperationalError) as error:
            self._close()
            if str(error) != self._fault:
                log.warning("%s cannot be opened (%s): dispatches are refused", self._path, error)
            self._fault = str(error)

    def _usable(self) -> sqlite3.Connection:
        try:
            return self._opened()
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError as error:
            aside = set_aside(self._path)
            log.warning("%s is unusable (%s): kept as %s, begun anew", self._path, error, aside)
            for suffix in ("-wal", "-shm"):
                part = self._path.with_name(self._path.name + suffix)
                if part.exists():
                    part.rename(aside.with_name(aside.name + suffix))
            return self._opened()

    def close(self) -> None:
        with self._lock:
            self._fault = ""
            self._close()

    def _close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    # ---- reading ----

    def get(self, key: str) -> Kept | None:
        with self._reading() as database:
            row = database.execute("SELECT * FROM conversation WHERE key = ?", (key,)).fetchone()
        return _kept(row) if row else None

    def all(
        self,
        project: str | None,
        limit: int,
        after: Place | None = None,
        state: WorkState | None = None,
        now: float = 0.0,
    ) -> list[Kept]:
        """The one used last first; those behind a place where one is given, and those that may be
        in a state: whether they are depends on what runs.
        """
        updated, key = after or (None, None)
        with self._reading() as database:
            rows = database.execute(_ALL, (project, updated, key, state, now, limit)).fetchall()
        return [_kept(row) for row in rows]

    def dispatched(self, uuid: str) -> tuple[str, Logged] | None:
        """The last dispatch that was made under this name, and on which key."""
        with self._reading() as database:
            row = database.execute(
                f"SELECT key, {_LOGGED} WHERE uuid = ? ORDER BY id DESC", (uuid,)
            ).fetchone()
        return (row[0], _logged(row[1:])) if row else None

    def expired(self, now: float) -> list[str]:
        with self._reading() as database:
            rows = database.execute(
                "SELECT key FROM conversation WHERE (session IS NOT NULL OR primer IS NOT NULL) "
                "AND expires <= ?",
                (now,),
            ).fetchall()
        return [row[0] for row in rows]

    def sessions(self) -> set[str]:
        """Every session that is or was a conversation's."""
        with self._reading() as database:
            rows = database.execute(
                "SELECT session FROM conversation WHERE session IS NOT NULL "
                "UNION SELECT session FROM earlier"
            ).fetchall()
        return {row[0] for row in rows}

    def story(self, kept: Kept) -> tuple[list[Earlier], list[Act], list[Logged]]:
        """What became of a conversation, oldest first."""
        key, created = kept.key, kept.created
        with self._reading() as database:
            earlier = database.execute(
                "SELECT session, ended, why, details FROM earlier WHERE key = ? ORDER BY id", (key,)
            ).fetchall()
            acts = database.execute(
                "SELECT at, what, details FROM act WHERE key = ? ORDER BY id", (key,)
            ).fetchall()
            logged = database.execute(
                f"SELECT {_LOGGED} WHERE key = ? AND at >= ? ORDER BY id DESC LIMIT ?",
                (key, created, LOGGED),
            ).fetchall()
        return (
            [Earlier(session_id=s, ended=iso(at), why=w, details=d) for s, at, w, d in earlier],
            [Act(at=iso(at), what=what, details=details) for at, what, details in acts],
            [_logged(row) for row in reversed(logged)],
        )

    # ---- writing ----

    def put(self, kept: Kept) -> None:
        with self._writing() as database:
            self._put(database, kept)

    def move_on(self, kept: Kept, old: str, why: Why, at: float, details: str | None) -> None:
        """The conversation as it is now, without the session that it had: both or neither."""
        with self._writing() as database:
            database.execute(
                "INSERT INTO earlier (key, session, ended, why, details) VALUES (?, ?, ?, ?, ?)",
                (kept.key, old, at, why, details),
            )
            self._put(database, kept)

    def note(self, key: str, what: What, details: str, at: float) -> None:
        with self._writing() as database:
            database.execute(
                "INSERT INTO act (key, at, what, details) VALUES (?, ?, ?, ?)",
                (key, at, what, details),
            )

    def begin(self, kept: Kept, uuid: str, how: How, text: str, at: float) -> None:
        """A dispatch is on its way; written before it is sent."""
        with self._writing() as database:
            self._put(database, kept)
            database.execute(
                "INSERT INTO dispatch (key, session, uuid, at, how, text) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (kept.key, kept.session, uuid, at, how, text[:MOST_TEXT]),
            )

    def finish(
        self, uuid: str, outcome: str, tokens: int | None, cost: float | None, at: float
    ) -> None:
        with self._writing() as database:
            database.execute(
                "UPDATE dispatch SET outcome = ?, tokens = ?, cost = ?, finished = ? "
                "WHERE uuid = ? AND outcome IS NULL",
                (outcome, tokens, cost, at, uuid),
            )

    def forget(self, key: str) -> bool:
        with self._writing() as database:
            database.execute("DELETE FROM earlier WHERE key = ?", (key,))
            database.execute("DELETE FROM act WHERE key = ?", (key,))
            gone = database.execute("DELETE FROM conversation WHERE key = ?", (key,))
            return gone.rowcount > 0

    # ---- the file ----

    def _put(self, database: sqlite3.Connection, kept: Kept) -> None:
        values = msgspec.structs.asdict(kept)
        values["metadata"] = msgspec.json.encode(kept.metadata).decode()
        database.execute(_PUT, values)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            if self._database is None and self._fault:
                self._open()
            if self._database is None:
                raise StateUnwritable(
                    "The book of conversations cannot be opened; the log says why."
                )
            try:
                yield self._database
            except sqlite3.OperationalError as error:
                raise StateUnwritable(
                    f"The book of conversations cannot be used now ({error})."
                ) from error

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._reading() as database, database:
            yield database

    def _opened(self) -> sqlite3.Connection:
        private_folder(self._path.parent)
        # created with its mode, so that no umask can open it to others
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        database = sqlite3.connect(self._path, check_same_thread=False)
        try:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = FULL")
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version == 0:
                database.executescript(f"BEGIN; {_TABLES} PRAGMA user_version = {VERSION}; COMMIT;")
            database.executescript(_LATER)
        except sqlite3.DatabaseError:
            database.close()
            raise
        return database


def place_of(kept: Kept) -> Place:
    return kept.updated, kept.key


def iso(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _kept(row: tuple[Any, ...]) -> Kept:
    values = dict(zip(Kept.__struct_fields__, row, strict=True))
    values["metadata"] = msgspec.json.decode(values["metadata"])
    values["full"] = bool(values["full"])
    return Kept(**values)


def _logged(row: tuple[Any, ...]) -> Logged:
    at, session, uuid, how, text, outcome, tokens, cost, finished = row
    return Logged(
        at=iso(at),
        session_id=session,
        uuid=uuid,
        how=how,
        text=text,
        outcome=outcome,
        tokens=tokens,
        cost_usd=cost,
        finished=iso(finished) if finished is not None else None,
    )
