"""Cache tables of what every transcript used, by day and model: each reply of the machine once.

A reply stands in several files when a session was forked, copied or continued under another id.
It counts for the file in which it is no copy; of several, for the one whose path comes first,
whatever order they are read in. The others are stored as repeating it. When the first file goes,
the next one gets the reply. These are functions of a connection, which the cache owns.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence

import msgspec

from claudekeeper.analysis.activity import (
    Activity,
    PromptAt,
    activity_identities,
    add_sums,
    sums_by_quarter,
)
from claudekeeper.analysis.reply_usage import REPLY_COLUMNS, PackedReplies, reply_identities
from claudekeeper.analysis.session_facts import SubagentShare
from claudekeeper.catalog import hourly_tables

TABLES = (
    """
CREATE TABLE IF NOT EXISTS zone (name TEXT PRIMARY KEY);
-- a transcript, which version of it, whose it is; how many of its replies are seen to, and of its
-- prompts and compactions, which are among the replies here: counted once too
CREATE TABLE IF NOT EXISTS account (id INTEGER PRIMARY KEY, path TEXT UNIQUE NOT NULL,
  session TEXT NOT NULL, workdir TEXT, beside TEXT, version TEXT NOT NULL,
  claimed INTEGER NOT NULL, marked INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS account_of ON account (session);
-- what a subagent did, packed, beside those of the same session: there may be thousands
CREATE TABLE IF NOT EXISTS share (session TEXT, account INTEGER, done BLOB NOT NULL,
  PRIMARY KEY (session, account)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS reply (id INTEGER PRIMARY KEY, account INTEGER NOT NULL,
  copy INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS repeat (id INTEGER, account INTEGER, copy INTEGER NOT NULL,
  PRIMARY KEY (account, id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS usage (account INTEGER, day TEXT, model TEXT, replies INTEGER,
  input INTEGER, output INTEGER, cache_read INTEGER, cache_write INTEGER, cost INTEGER,
  PRIMARY KEY (account, day, model)) WITHOUT ROWID;
"""
    + hourly_tables.TABLES
)
TABLE_NAMES = ("account", "share", "reply", "repeat", "usage", "zone", *hourly_tables.TABLE_NAMES)
SQL_CHUNK = 500

_pack = msgspec.msgpack.Encoder().encode
_share_decoder = msgspec.msgpack.Decoder(SubagentShare)

# replies, input, output, cache read, cache write, cost: of a key
UsageSums = tuple[str | None, int, int, int, int, int, int]
_SUM_COLUMNS = "SUM(replies), SUM(input), SUM(output), SUM(cache_read), SUM(cache_write), SUM(cost)"
# a subagent's directory is that of its session; its own counts where the session is gone
_WORKDIR = "COALESCE(a.workdir, m.workdir, a.beside)"
_GROUP_KEYS = {
    "day": "u.day",
    "model": "u.model",
    "session": "a.session",
    "project": _WORKDIR,
}


class FileUsage(msgspec.Struct, frozen=True):
    """The replies and activity of one version of a transcript."""

    path: str
    session: str
    workdir: str | None
    version: str
    replies: PackedReplies
    activity: Activity
    # of a subagent's file: what it did counts for its session too
    share: SubagentShare | None = None
    # how many of its first replies, and of its first prompts and compactions, are copies
    copy_counts: tuple[int, int] = (0, 0)
    # where a subagent worked
    subagent_workdir: str | None = None


# the stored replies and activity of a transcript
StoredUsage = tuple[PackedReplies, Activity]
LoadUsage = Callable[[str], StoredUsage | None]


def time_zone() -> str:
    """The name of the machine's time zone, whose days count."""
    return "/".join(time.tzname)


def reset_on_new_zone(database: sqlite3.Connection) -> None:
    """In another time zone the days are others: the sums are deleted, the folds stay."""
    (here,) = database.execute("SELECT MAX(name) FROM zone").fetchone()
    if here != time_zone():
        for name in TABLE_NAMES:
            database.execute(f"DELETE FROM {name}")  # noqa: S608 - a name of ours
        database.execute("INSERT INTO zone VALUES (?)", (time_zone(),))


def add_usage(database: sqlite3.Connection, usage: FileUsage, load_usage: LoadUsage) -> None:
    """Count the replies of a file that no other file had before."""
    counted = database.execute(
        "SELECT id, claimed, marked, version, session FROM account WHERE path = ?", (usage.path,)
    ).fetchone()
    replies = reply_identities(usage.replies)
    marks = activity_identities(usage.activity)
    if counted is not None and (
        counted[1] > len(replies)
        or counted[2] > len(marks)
        or counted[3].partition(":")[0] != usage.version.partition(":")[0]
        or counted[4] != usage.session
    ):
        # it was rewritten: shorter, or as another file
        remove_usage(database, usage.path, load_usage)
        counted = None
    if counted is None:
        account = database.execute(
            "INSERT INTO account (path, session, workdir, beside, version, claimed, marked)"
            " VALUES (?, ?, ?, ?, ?, 0, 0)",
            (usage.path, usage.session, usage.workdir, usage.subagent_workdir, usage.version),
        ).lastrowid
        claimed = marked = 0
    else:
        account, claimed, marked, *_ = counted
    assert account is not None
    losers: set[int] = set()
    for identities, done, copied in (
        (replies, claimed, usage.copy_counts[0]),
        (marks, marked, usage.copy_counts[1]),
    ):
        losers |= _assign_replies(database, account, identities[done:copied], copy=True)
        losers |= _assign_replies(database, account, identities[max(done, copied) :], copy=False)
    database.execute(
        "UPDATE account SET workdir = COALESCE(?, workdir), version = ?, claimed = ?, marked = ?"
        " WHERE id = ?",
        (usage.workdir, usage.version, len(replies), len(marks), account),
    )
    if usage.share is not None:
        database.execute(
            "INSERT OR REPLACE INTO share VALUES (?, ?, ?)",
            (usage.session, account, _pack(usage.share)),
        )
    _recompute(database, account, (usage.replies, usage.activity))
    _recompute_all(database, losers, load_usage)


def remove_usage(database: sqlite3.Connection, path: str, load_usage: LoadUsage) -> None:
    """Forget a file that is gone or rewritten; its replies go to the files that repeat them."""
    row = database.execute("SELECT id, session FROM account WHERE path = ?", (path,)).fetchone()
    if row is None:
        return
    account, session = row
    heirs = database.execute(
        "SELECT r.account, r.id, r.copy FROM repeat r JOIN reply o ON o.id = r.id"
        " WHERE o.account = ?",
        (account,),
    ).fetchall()
    for table in ("usage", "repeat", "reply"):
        database.execute(f"DELETE FROM {table} WHERE account = ?", (account,))  # noqa: S608
    hourly_tables.delete_hours(database, account)
    database.execute("DELETE FROM share WHERE session = ? AND account = ?", (session, account))
    database.execute("DELETE FROM account WHERE id = ?", (account,))
    for heir, reply, copy in heirs:
        database.execute("DELETE FROM repeat WHERE account = ? AND id = ?", (heir, reply))
        _assign_replies(database, heir, [_unsigned(reply)], copy=bool(copy))
    _recompute_all(database, {heir for heir, *_ in heirs}, load_usage)


def _recompute_all(
    database: sqlite3.Connection, accounts: Iterable[int], load_usage: LoadUsage
) -> None:
    for heir in accounts:
        (path,) = database.execute("SELECT path FROM account WHERE id = ?", (heir,)).fetchone()
        stored = load_usage(path)
        if stored is not None:
            _recompute(database, heir, stored)


def usage_versions(database: sqlite3.Connection, paths: Sequence[str]) -> dict[str, str]:
    """Which versions of these files were counted; for no more files than one statement takes."""
    marks = ",".join("?" * len(paths))
    return dict(
        database.execute(f"SELECT path, version FROM account WHERE path IN ({marks})", paths)  # noqa: S608
    )


def usage_paths(database: sqlite3.Connection) -> list[str]:
    """Every file that was counted."""
    return [path for (path,) in database.execute("SELECT path FROM account")]


def paths_sharing_replies(database: sqlite3.Connection, path: str) -> list[str]:
    """The files that have replies of this one, too."""
    row = database.execute("SELECT id FROM account WHERE path = ?", (path,)).fetchone()
    if row is None:
        return []
    rows = database.execute(
        "WITH mine AS (SELECT id FROM repeat WHERE account = ?1) SELECT path FROM account"
        " WHERE id != ?1 AND id IN ("
        # files whose replies it repeats; files that repeat those as well; files that repeat its own
        "  SELECT account FROM reply WHERE id IN mine"
        "  UNION SELECT account FROM repeat WHERE id IN mine"
        "  UNION SELECT r.account FROM repeat r JOIN reply o ON o.id = r.id WHERE o.account = ?1)",
        row,
    )
    return [other for (other,) in rows]


def usage_sums(
    database: sqlite3.Connection,
    by: str,
    after: str | None,
    before: str | None,
    allowed: Iterable[str | None] | None,
) -> list[UsageSums]:
    """What was used, by a key, in the allowed projects."""
    key = _GROUP_KEYS[by]
    rows = database.execute(
        f"SELECT {key}, {_SUM_COLUMNS} FROM usage u JOIN account a ON a.id = u.account"  # noqa: S608
        f"{_scope_clause(database, allowed, joined=by == 'project')}"
        " AND u.day >= ? AND u.day < ? GROUP BY 1 ORDER BY 1",
        (after or "", before or "~"),
    )
    return rows.fetchall()


def activity_by_hour(
    database: sqlite3.Connection, after: str, before: str, allowed: Iterable[str] | None
) -> list[hourly_tables.HourSums]:
    """What was done in every hour, in the allowed projects."""
    return hourly_tables.select_hours(database, _scope_clause(database, allowed), (), after, before)


def subagent_shares(database: sqlite3.Connection, session: str) -> list[SubagentShare]:
    """What each of a session's subagents did."""
    rows = database.execute("SELECT done FROM share WHERE session = ?", (session,))
    return [_share_decoder.decode(done) for (done,) in rows]


def subagent_activity_by_hour(
    database: sqlite3.Connection, session: str, after: str, before: str
) -> list[hourly_tables.HourSums]:
    """What the subagents of a session did in every hour, by their own files."""
    scope = " WHERE a.session = ? AND a.path NOT LIKE ?"
    return hourly_tables.select_hours(
        database, scope, (session, f"%{session}.jsonl"), after, before
    )


def first_prompts(
    database: sqlite3.Connection,
    after: str,
    before: str,
    allowed: Iterable[str] | None,
    limit: int,
    prompts_in: Callable[[str], Iterable[PromptAt]],
) -> list[hourly_tables.SessionPrompt]:
    """The first prompts of this time."""
    scope = _scope_clause(database, allowed)
    return hourly_tables.first_prompts(database, scope, after, before, limit, prompts_in)


def _scope_clause(
    database: sqlite3.Connection, allowed: Iterable[str | None] | None, *, joined: bool = False
) -> str:
    """The part of a statement that limits it to the allowed projects."""
    if allowed is None and not joined:
        return " WHERE TRUE"
    of_session = (
        " LEFT JOIN (SELECT session, MAX(workdir) AS workdir FROM account WHERE workdir IS NOT NULL"
        " GROUP BY session) m ON m.session = a.session WHERE TRUE"
    )
    if allowed is None:
        return of_session
    database.execute("CREATE TEMP TABLE IF NOT EXISTS allowed (workdir TEXT PRIMARY KEY)")
    database.execute("DELETE FROM allowed")
    database.executemany(
        "INSERT OR IGNORE INTO allowed VALUES (?)", [(each,) for each in allowed if each]
    )
    narrowed = f" AND {_WORKDIR} IN (SELECT workdir FROM allowed)"  # noqa: S608 - a name of ours
    return of_session + narrowed


def usage_workdirs(database: sqlite3.Connection) -> list[str]:
    rows = database.execute(
        "SELECT workdir FROM account WHERE workdir IS NOT NULL"
        " UNION SELECT beside FROM account WHERE beside IS NOT NULL"
    )
    return [workdir for (workdir,) in rows]


def _assign_replies(
    database: sqlite3.Connection, account: int, replies: Sequence[int], *, copy: bool
) -> set[int]:
    """Give these replies to an account; returns the accounts that lost some of them."""
    losers: set[int] = set()
    if not len(replies):
        return losers
    (path,) = database.execute("SELECT path FROM account WHERE id = ?", (account,)).fetchone()
    for start in range(0, len(replies), SQL_CHUNK):
        # a long session has tens of thousands: as a list of numbers they would take megabytes
        chunk = [_signed(each) for each in replies[start : start + SQL_CHUNK]]
        marks = ",".join("?" * len(chunk))
        rows = database.execute(
            "SELECT r.id, r.account, r.copy, a.path FROM reply r JOIN account a"  # noqa: S608
            f" ON a.id = r.account WHERE r.id IN ({marks})",
            chunk,
        )
        owners = {
            reply: (owner, was_copy, owner_path) for reply, owner, was_copy, owner_path in rows
        }
        mine: list[tuple[int, int, bool]] = []
        repeats: list[tuple[int, int, bool]] = []
        for each in chunk:
            owner, was_copy, owner_path = owners.get(each, (account, True, path))
            if owner != account and (copy, path) >= (bool(was_copy), owner_path):
                repeats.append((each, account, copy))
                continue
            mine.append((each, account, copy))
            if owner != account:
                losers.add(owner)
                repeats.append((each, owner, bool(was_copy)))
        database.executemany("INSERT OR REPLACE INTO repeat VALUES (?, ?, ?)", repeats)
        database.executemany("INSERT OR REPLACE INTO reply VALUES (?, ?, ?)", sorted(mine))
    return losers


def _recompute(database: sqlite3.Connection, account: int, stored: StoredUsage) -> None:
    replies, activity = stored
    rows = database.execute("SELECT id FROM repeat WHERE account = ?", (account,))
    quarters = sums_by_quarter(replies, activity, {_unsigned(reply) for (reply,) in rows})
    used: dict[tuple[str, int], list[int]] = {}
    for (quarter, model), sums in quarters.items():
        if sums[0]:
            day = hourly_tables.local_hour(quarter)[:10]
            add_sums(
                used.setdefault((day, model), [0] * (REPLY_COLUMNS - 1)), sums[: REPLY_COLUMNS - 1]
            )
    database.execute("DELETE FROM usage WHERE account = ?", (account,))
    database.executemany(
        "INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(account, day, replies.models[model], *sums) for (day, model), sums in used.items()],
    )
    hourly_tables.replace_hours(database, account, hourly_tables.sums_by_hour(quarters))


def _signed(reply: int) -> int:
    return reply - 2**63


def _unsigned(reply: int) -> int:
    return reply + 2**63
