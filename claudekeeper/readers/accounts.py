"""What every transcript used, by day and model, in the cache: each reply of the machine once.

A reply stands in several files where a session was forked, copied or continued under another id.
The file that was read first has it; the others remember that they repeat it, and when that file
goes, one of them takes it over. Functions of a connection: the cache owns that.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import lru_cache

import msgspec

from claudekeeper.model.replies import Packed, identities, unpacked

TABLES = """
CREATE TABLE IF NOT EXISTS zone (name TEXT PRIMARY KEY);
-- a transcript, which version of it, whose it is; `claimed`: how many of its replies are seen to
CREATE TABLE IF NOT EXISTS account (id INTEGER PRIMARY KEY, path TEXT UNIQUE NOT NULL,
  session TEXT NOT NULL, workdir TEXT, version TEXT NOT NULL, claimed INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS reply (id INTEGER PRIMARY KEY, account INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS repeat (id INTEGER, account INTEGER, PRIMARY KEY (account, id))
  WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS usage (account INTEGER, day TEXT, model TEXT, replies INTEGER,
  input INTEGER, output INTEGER, cache_read INTEGER, cache_write INTEGER, cost INTEGER,
  PRIMARY KEY (account, day, model)) WITHOUT ROWID;
"""
NAMES = ("account", "reply", "repeat", "usage", "zone")
CHUNK = 500

# replies, input, output, cache read, cache write, cost: of a key
Sums = tuple[str | None, int, int, int, int, int, int]
_SUMS = "SUM(replies), SUM(input), SUM(output), SUM(cache_read), SUM(cache_write), SUM(cost)"
_KEYS = {
    "day": "u.day",
    "model": "u.model",
    "session": "a.session",
    "project": "COALESCE(a.workdir, m.workdir)",
}


class Claim(msgspec.Struct, frozen=True):
    """What a version of a transcript says of its replies."""

    path: str
    session: str
    workdir: str | None
    version: str
    replies: Packed


def zone() -> str:
    """Days are those of this machine: where it is said to be counts."""
    return "/".join(time.tzname)


def settle_zone(database: sqlite3.Connection) -> None:
    """In another zone every day is another: what was reckoned is forgotten, not what was read."""
    (here,) = database.execute("SELECT MAX(name) FROM zone").fetchone()
    if here != zone():
        for name in NAMES:
            database.execute(f"DELETE FROM {name}")  # noqa: S608 - a name of ours
        database.execute("INSERT INTO zone VALUES (?)", (zone(),))


def claim(
    database: sqlite3.Connection, wish: Claim, packed_of: Callable[[str], Packed | None]
) -> None:
    """Count what this file has and no other had before."""
    known = database.execute(
        "SELECT id, claimed, version FROM account WHERE path = ?", (wish.path,)
    ).fetchone()
    replies = identities(wish.replies)
    if known is not None and (
        known[1] > len(replies) or known[2].partition(":")[0] != wish.version.partition(":")[0]
    ):
        # it was written anew: shorter, or as another file
        release(database, wish.path, packed_of)
        known = None
    if known is None:
        account = database.execute(
            "INSERT INTO account (path, session, workdir, version, claimed) VALUES (?, ?, ?, ?, 0)",
            (wish.path, wish.session, wish.workdir, wish.version),
        ).lastrowid
        claimed = 0
    else:
        account, claimed, _ = known
    assert account is not None
    _own(database, account, [_signed(reply) for reply in replies[claimed:]])
    database.execute(
        "UPDATE account SET session = ?, workdir = COALESCE(?, workdir), version = ?, claimed = ?"
        " WHERE id = ?",
        (wish.session, wish.workdir, wish.version, len(replies), account),
    )
    _reckon(database, account, wish.replies)


def release(
    database: sqlite3.Connection, path: str, packed_of: Callable[[str], Packed | None]
) -> None:
    """The file is gone, or another one: what others repeat of it is theirs now."""
    known = database.execute("SELECT id FROM account WHERE path = ?", (path,)).fetchone()
    if known is None:
        return
    (account,) = known
    heirs = database.execute(
        "SELECT r.account, r.id FROM repeat r JOIN reply o ON o.id = r.id WHERE o.account = ?",
        (account,),
    ).fetchall()
    for table in ("usage", "repeat", "reply"):
        database.execute(f"DELETE FROM {table} WHERE account = ?", (account,))  # noqa: S608
    database.execute("DELETE FROM account WHERE id = ?", (account,))
    for heir, reply in heirs:
        database.execute("DELETE FROM repeat WHERE account = ? AND id = ?", (heir, reply))
        _own(database, heir, [reply])
    for heir in {heir for heir, _ in heirs}:
        (place,) = database.execute("SELECT path FROM account WHERE id = ?", (heir,)).fetchone()
        packed = packed_of(place)
        if packed is not None:
            _reckon(database, heir, packed)


def versions(database: sqlite3.Connection) -> dict[str, str]:
    """Which version of every file was counted."""
    return dict(database.execute("SELECT path, version FROM account"))


def sums(
    database: sqlite3.Connection,
    by: str,
    after: str | None,
    before: str | None,
    allowed: Iterable[str | None] | None,
) -> list[Sums]:
    """What was used, by a key; of the projects that are allowed only."""
    key = _KEYS[by]
    database.execute("CREATE TEMP TABLE IF NOT EXISTS allowed (workdir TEXT PRIMARY KEY)")
    database.execute("DELETE FROM allowed")
    narrowed = ""
    if allowed is not None:
        database.executemany(
            "INSERT OR IGNORE INTO allowed VALUES (?)", [(each,) for each in allowed if each]
        )
        narrowed = " AND COALESCE(a.workdir, m.workdir) IN (SELECT workdir FROM allowed)"
    joined = (
        " LEFT JOIN (SELECT session, MAX(workdir) AS workdir FROM account WHERE workdir IS NOT NULL"
        " GROUP BY session) m ON m.session = a.session"
        if by == "project" or allowed is not None
        else ""
    )
    found = database.execute(
        f"SELECT {key}, {_SUMS} FROM usage u JOIN account a ON a.id = u.account{joined}"  # noqa: S608
        f" WHERE u.day >= ? AND u.day < ?{narrowed} GROUP BY 1 ORDER BY 1",
        (after or "", before or "~"),
    )
    return found.fetchall()


def workdirs(database: sqlite3.Connection) -> list[str]:
    found = database.execute("SELECT DISTINCT workdir FROM account WHERE workdir IS NOT NULL")
    return [workdir for (workdir,) in found]


def _own(database: sqlite3.Connection, account: int, replies: list[int]) -> None:
    for start in range(0, len(replies), CHUNK):
        chunk = replies[start : start + CHUNK]
        marks = ",".join("?" * len(chunk))
        taken = dict(
            database.execute(f"SELECT id, account FROM reply WHERE id IN ({marks})", chunk)  # noqa: S608
        )
        repeats = [(each, account) for each in chunk if taken.get(each, account) != account]
        free = sorted((each, account) for each in chunk if each not in taken)
        database.executemany("INSERT OR IGNORE INTO repeat VALUES (?, ?)", repeats)
        database.executemany("INSERT OR IGNORE INTO reply VALUES (?, ?)", free)


def _reckon(database: sqlite3.Connection, account: int, packed: Packed) -> None:
    found = database.execute("SELECT id FROM repeat WHERE account = ?", (account,))
    repeated = {reply for (reply,) in found}
    used: dict[tuple[str, int], list[int]] = {}
    for reply, spent in unpacked(packed):
        if repeated and _signed(reply) in repeated:
            continue
        sum_ = used.setdefault((_day(spent.minute // 15), spent.place), [0] * 6)
        sum_[0] += 1
        for place, number in enumerate(spent[2:], start=1):
            sum_[place] += number
    database.execute("DELETE FROM usage WHERE account = ?", (account,))
    database.executemany(
        "INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(account, day, packed.models[place], *sum_) for (day, place), sum_ in used.items()],
    )


@lru_cache(maxsize=4096)
def _day(quarter: int) -> str:
    """The local day of a quarter of an hour: no zone of the world is finer."""
    if not quarter:
        return ""
    try:
        return datetime.fromtimestamp(quarter * 900).astimezone().date().isoformat()
    except (ValueError, OverflowError, OSError):
        return ""


def _signed(reply: int) -> int:
    return reply - 2**63
