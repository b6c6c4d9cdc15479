"""The index of all words: one SQLite file in the cache folder, which can be deleted at any time.

A full-text table without content holds the words. Its row number is the time of the message, so
the newest come first without sorting, and a span of time is a span of rows. A second table says
where each message is: file, offset, length. The text itself is read from the transcript.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import get_args
from urllib.parse import quote

import msgspec

from claudekeeper.contract.message import MessageKind
from claudekeeper.core.atomic_files import make_private_folder
from claudekeeper.search import trigrams

log = logging.getLogger(__name__)

# raised when the shape or meaning of what is stored changes
VERSION = 7
# row numbers start here: smaller numbers take fewer bytes
ROW_EPOCH = 1_577_836_800
# messages of one second, before they take row numbers of the next
ROWS_PER_SECOND = 64
# seconds that one writer waits for another
LOCK_TIMEOUT = 30.0
# words gathered in memory before they are written in one piece
HASH_BYTES = 64 * 1024 * 1024
# rows of files that were rewritten or deleted, beyond which a new index is better
MAX_DEAD_ROWS = 20_000

KINDS: tuple[MessageKind, ...] = get_args(MessageKind)
# characters of new text, beyond which the word list is made anew later
MAX_INLINE_CHARACTERS = 4_000_000

_TABLES = """
CREATE TABLE file (
    -- never used twice: messages of a file that is gone lead nowhere
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    path TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL,
    agent TEXT,
    workdir TEXT,
    inode INTEGER NOT NULL,
    -- how far it is read, and the bytes before that: other bytes there mean that it was rewritten
    offset INTEGER NOT NULL,
    mark BLOB NOT NULL,
    -- when the last of its messages was said, in milliseconds, and how many there are
    time INTEGER,
    messages INTEGER NOT NULL
);
CREATE INDEX file_of_session ON file (session, agent);
CREATE TABLE message (
    id INTEGER PRIMARY KEY,
    file INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    length INTEGER NOT NULL,
    -- whether it is only a part of its line
    part INTEGER NOT NULL,
    kind INTEGER NOT NULL
);
CREATE TABLE dead (messages INTEGER NOT NULL);
INSERT INTO dead VALUES (0);
CREATE VIRTUAL TABLE words USING fts5(
    said, tags, content='', columnsize=0, tokenize='unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, instance);
"""


_SELECT_SOURCES = "SELECT path, session, agent, workdir, inode, offset, mark, time, id FROM file"


class IndexSource(msgspec.Struct, gc=False):
    """A transcript as the index has it."""

    path: str
    session: str
    agent: str | None
    workdir: str | None
    inode: int
    offset: int = 0
    fingerprint: bytes = b""
    time: int | None = None
    id: int | None = None


class IndexedMessage(msgspec.Struct, gc=False):
    """One message on its way into the index."""

    time: int
    offset: int
    length: int
    # whether it is only a part of its line
    part: bool
    kind: int
    text: str
    tags: str


class MessageLocation(msgspec.Struct, gc=False):
    """Where a message of the index stands."""

    row: int
    path: str
    session: str
    agent: str | None
    workdir: str | None
    offset: int
    length: int
    part: bool
    kind: MessageKind


class IndexUpdate(msgspec.Struct, gc=False):
    """New messages of a file, with the file as it was and as it is in the index."""

    before: IndexSource | None
    after: IndexSource | None
    messages: list[IndexedMessage]


def workdir_tag(workdir: str) -> str:
    return "w" + blake2b(workdir.encode("utf-8", "replace"), digest_size=8).hexdigest()


def first_row(time: int) -> int:
    """The lowest row that a message of this second (in milliseconds) can have."""
    return (time // 1000 - ROW_EPOCH) * ROWS_PER_SECOND


def open_index(path: Path) -> sqlite3.Connection:
    """The index, made if it is not there; one of another version is begun anew."""
    make_private_folder(path.parent)
    # created with its mode, so that no umask can open it to others
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    database = sqlite3.connect(
        path, timeout=LOCK_TIMEOUT, isolation_level=None, check_same_thread=False
    )
    try:
        database.execute("PRAGMA journal_mode = WAL")
        # a lost index costs a reading, so it may be lazy about the disk
        database.execute("PRAGMA synchronous = OFF")
        # kilobytes; the system keeps the file in memory better than we would
        database.execute("PRAGMA cache_size = -4096")
        database.execute("BEGIN IMMEDIATE")
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if version != VERSION:
            _recreate_tables(database)
        database.execute("COMMIT")
        # of the connection, not of the file
        database.execute("INSERT INTO words(words, rank) VALUES ('hashsize', ?)", (HASH_BYTES,))
    except sqlite3.Error:
        database.close()
        raise
    return database


def open_read_only(path: Path) -> sqlite3.Connection:
    """The index as it stands; an error where it is not one of ours, or not there yet."""
    database = sqlite3.connect(f"file:{quote(str(path))}?mode=rw", timeout=LOCK_TIMEOUT, uri=True)
    try:
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if version != VERSION:
            raise sqlite3.DatabaseError("an index of another version")
    except sqlite3.Error:
        database.close()
        raise
    return database


def delete_index(path: Path) -> None:
    """Away with an index that cannot be used."""
    for name in (path.name, path.name + "-wal", path.name + "-shm"):
        with contextlib.suppress(OSError):
            path.with_name(name).unlink()


def _recreate_tables(database: sqlite3.Connection) -> None:
    for table in (*trigrams.TABLE_NAMES, "vocabulary", "words", "message", "file", "dead"):
        database.execute(f"DROP TABLE IF EXISTS {table}")
    for statement in _statements(_TABLES + trigrams.TABLES):
        database.execute(statement)
    database.execute(f"PRAGMA user_version = {VERSION}")


def _statements(script: str) -> Iterator[str]:
    """One by one: `executescript` would end the transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


# ---- writing ----


def sources(database: sqlite3.Connection) -> Iterator[IndexSource]:
    """Every file that the index knows, one after another: there may be many thousands."""
    return (IndexSource(*row) for row in database.execute(_SELECT_SOURCES))


def source_of(database: sqlite3.Connection, path: str) -> IndexSource | None:
    row = database.execute(f"{_SELECT_SOURCES} WHERE path = ?", (path,)).fetchone()
    return IndexSource(*row) if row else None


def write_updates(database: sqlite3.Connection, updates: Iterable[IndexUpdate]) -> None:
    """Write all of it or nothing; what another writer wrote first stays."""
    database.execute("BEGIN IMMEDIATE")
    try:
        messages: list[tuple[int, IndexedMessage]] = []
        for update in updates:
            file = _write_source(database, update)
            if file is not None:
                messages += [(file, each) for each in update.messages]
        _insert_messages(database, messages)
    except BaseException:
        database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


def too_many_dead(database: sqlite3.Connection) -> bool:
    (dead,) = database.execute("SELECT messages FROM dead").fetchone()
    (live,) = database.execute("SELECT coalesce(sum(messages), 0) FROM file").fetchone()
    return bool(dead > MAX_DEAD_ROWS + live)


def clear_index(database: sqlite3.Connection) -> None:
    """Forget everything."""
    database.execute("BEGIN IMMEDIATE")
    _recreate_tables(database)
    database.execute("COMMIT")


def _write_source(database: sqlite3.Connection, update: IndexUpdate) -> int | None:
    """The number of the file, whose new state is written down; None if it changed meanwhile."""
    before, after = update.before, update.after
    path = (after or before or IndexSource("", "", None, None, 0)).path
    current = source_of(database, path)
    if not _is_unchanged(current, before):
        return None
    if before is not None and (after is None or after.id != before.id):
        database.execute(
            "UPDATE dead SET messages = messages + (SELECT messages FROM file WHERE id = ?)",
            (before.id,),
        )
        database.execute("DELETE FROM file WHERE id = ?", (before.id,))
    if after is None:
        return None
    state = (after.offset, after.fingerprint, after.time, after.workdir)
    if after.id is not None:
        database.execute(
            "UPDATE file SET offset = ?, mark = ?, time = ?, workdir = ?,"
            " messages = messages + ? WHERE id = ?",
            (*state, len(update.messages), after.id),
        )
        return after.id
    return database.execute(
        "INSERT INTO file (offset, mark, time, workdir, path, session, agent, inode, messages)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*state, after.path, after.session, after.agent, after.inode, len(update.messages)),
    ).lastrowid


def _is_unchanged(current: IndexSource | None, before: IndexSource | None) -> bool:
    if current is None or before is None:
        return current is before
    return (current.id, current.offset) == (before.id, before.offset)


def _insert_messages(
    database: sqlite3.Connection, messages: list[tuple[int, IndexedMessage]]
) -> None:
    # rows that come in order are written in one piece
    messages.sort(key=lambda each: each[1].time)
    rows = list(_free_rows(database, [each.time for _, each in messages]))
    placed = sorted(zip(rows, messages, strict=True), key=lambda each: each[0])
    texts = [each.text for _, each in messages]
    if sum(map(len, texts)) <= MAX_INLINE_CHARACTERS:
        trigrams.add_words(database, texts)
    else:
        trigrams.mark_stale(database)
    database.executemany(
        "INSERT INTO message VALUES (?, ?, ?, ?, ?, ?)",
        ((row, file, s.offset, s.length, s.part, s.kind) for row, (file, s) in placed),
    )
    database.executemany(
        "INSERT INTO words (rowid, said, tags) VALUES (?, ?, ?)",
        ((row, s.text, s.tags) for row, (_, s) in placed),
    )


def _free_rows(database: sqlite3.Connection, times: list[int]) -> Iterator[int]:
    """A free row for each of these times, which are in order."""
    used: set[int] = set()
    second = -1
    row = 0
    for time in times:
        if (first := first_row(time)) > second:
            second = first
            row = max(row, first)
            used = _used_rows(database, row)
        while row in used:
            row += 1
            if row % ROWS_PER_SECOND == 0:
                used = _used_rows(database, row)
        yield row
        row += 1
        if row % ROWS_PER_SECOND == 0:
            used = _used_rows(database, row)


def _used_rows(database: sqlite3.Connection, row: int) -> set[int]:
    end = row - row % ROWS_PER_SECOND + ROWS_PER_SECOND
    rows = database.execute("SELECT id FROM message WHERE id >= ? AND id < ?", (row, end))
    return {row_id for (row_id,) in rows}


# ---- reading ----


def find_messages(
    database: sqlite3.Connection, match: str, *, below: int | None, after: int | None
) -> Iterator[MessageLocation]:
    """Messages that match, the newest first, read as they are needed."""
    rows = database.execute(
        "SELECT words.rowid, path, session, agent, workdir, message.offset, length, part, kind"
        " FROM words CROSS JOIN message ON message.id = words.rowid"
        " CROSS JOIN file ON file.id = message.file"
        " WHERE words MATCH ? AND words.rowid < ? AND words.rowid >= ?"
        " ORDER BY words.rowid DESC",
        (match, below if below is not None else 1 << 62, after if after is not None else -1 << 62),
    )
    for row in rows:
        row_id, path, session, agent, workdir, offset, length, part, kind = row
        yield MessageLocation(
            row_id, path, session, agent, workdir, offset, length, bool(part), KINDS[kind]
        )


def paths_of(database: sqlite3.Connection, session: str, agent: str | None) -> list[str]:
    """The transcripts that have the words of a session, or of one of its subagents."""
    rows = database.execute(
        "SELECT path FROM file WHERE session = ? AND agent IS ?", (session, agent)
    )
    return [path for (path,) in rows]


def workdirs(database: sqlite3.Connection) -> set[str]:
    """Every working directory of a session that the index has."""
    rows = database.execute("SELECT DISTINCT workdir FROM file WHERE workdir IS NOT NULL")
    return {workdir for (workdir,) in rows}


def words_with_prefix(
    database: sqlite3.Connection,
    start: str,
    max_words: int,
    behind: tuple[str, str] = ("", "\U0010ffff"),
) -> list[str] | None:
    """Every word that begins so; None where there are more than `max_words`.

    `behind`: what stands behind the beginning lies between these two.
    """
    words: list[str] = []
    term, end = (start + each for each in behind)
    while len(words) <= max_words:
        row = database.execute(
            "SELECT term FROM vocabulary WHERE term >= ? AND term < ? LIMIT 1", (term, end)
        ).fetchone()
        if row is None:
            return words
        words.append(row[0])
        # behind this word and before any longer one: the words' own lists are not walked through
        term = row[0] + "\x01"
    return None
