"""Cache tables of what was done in every hour, by transcript, and of the prompts.

Hours and days are local (`2026-03-01T10`), as in `usage_tables`: in another time zone all of them
are computed anew. These are functions of a connection, which the cache owns.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import lru_cache

from claudekeeper.analysis.activity import QUARTER_MINUTES, SUM_COLUMNS, PromptAt, Sums, add_sums
from claudekeeper.analysis.reply_usage import minute_of

TABLES = """
CREATE TABLE IF NOT EXISTS moment (account INTEGER, hour TEXT, replies INTEGER, input INTEGER,
  output INTEGER, cache_read INTEGER, cache_write INTEGER, cost INTEGER, calls INTEGER,
  edits INTEGER, prompts INTEGER, compactions INTEGER, PRIMARY KEY (account, hour)) WITHOUT ROWID;
"""
TABLE_NAMES = ("moment",)

# an hour and what was done in it
HourSums = tuple[str, Sums]
# a prompt, with its session and the session's directory
SessionPrompt = tuple[str, str | None, PromptAt]

_COLUMNS = (
    "replies",
    "input",
    "output",
    "cache_read",
    "cache_write",
    "cost",
    "calls",
    "edits",
    "prompts",
    "compactions",
)
_SUM_COLUMNS = ", ".join(f"SUM(u.{column})" for column in _COLUMNS)


def replace_hours(database: sqlite3.Connection, account: int, hours: dict[str, Sums]) -> None:
    """Replace what was done by an account."""
    delete_hours(database, account)
    marks = ", ".join("?" * (SUM_COLUMNS + 2))
    database.executemany(
        f"INSERT INTO moment VALUES ({marks})",  # noqa: S608 - question marks
        [(account, hour, *sums) for hour, sums in hours.items()],
    )


def delete_hours(database: sqlite3.Connection, account: int) -> None:
    database.execute("DELETE FROM moment WHERE account = ?", (account,))


def select_hours(
    database: sqlite3.Connection, scope: str, arguments: tuple[str, ...], after: str, before: str
) -> list[HourSums]:
    """Every hour of these accounts in which something was done; `scope`: a part of a statement."""
    rows = database.execute(
        f"SELECT u.hour, {_SUM_COLUMNS} FROM moment u JOIN account a ON a.id = u.account{scope}"  # noqa: S608
        " AND u.hour >= ? AND u.hour < ? GROUP BY 1 ORDER BY 1",
        (*arguments, after, before),
    )
    return [(hour, sums) for hour, *sums in rows]


def first_prompts(
    database: sqlite3.Connection,
    scope: str,
    after: str,
    before: str,
    limit: int,
    prompts_in: Callable[[str], Iterable[PromptAt]],
) -> list[SessionPrompt]:
    """The first prompts of this time; copies of a prompt count once."""
    if limit == 0:
        return []
    speakers = database.execute(
        "SELECT a.path, a.session, a.workdir, MIN(u.hour)"  # noqa: S608 - a part of ours
        f" FROM moment u JOIN account a ON a.id = u.account{scope}"
        " AND u.hour >= ? AND u.hour < ? AND u.prompts > 0 GROUP BY 1 ORDER BY 4",
        (after, before),
    ).fetchall()
    prompts: dict[tuple[str, str], SessionPrompt] = {}
    for number, (path, session, workdir, first) in enumerate(speakers, start=1):
        for each in prompts_in(path):
            if after <= hour_of(each.at) < before:
                prompts.setdefault((each.at, each.text), (session, workdir, each))
        later = speakers[number][3] if number < len(speakers) else None
        if len(prompts) >= limit and later is not None and later != first:
            nearest = sorted(prompts)[limit - 1][0]
            # later transcripts have only later prompts
            if hour_of(nearest) < later:
                break
    return [prompts[key] for key in sorted(prompts)[:limit]]


def sums_by_hour(quarters: dict[tuple[int, int], Sums]) -> dict[str, Sums]:
    """The sums by local hour; what has no time is left out."""
    hours: dict[str, Sums] = {}
    for (quarter, _), sums in quarters.items():
        if hour := local_hour(quarter):
            add_sums(hours.setdefault(hour, [0] * SUM_COLUMNS), sums)
    return hours


def hour_of(timestamp: str) -> str:
    """The local hour of a line."""
    return local_hour(minute_of(timestamp) // QUARTER_MINUTES)


@lru_cache(maxsize=4096)
def local_hour(quarter: int) -> str:
    """The local hour of a quarter of an hour: no zone of the world is finer."""
    if not quarter:
        return ""
    try:
        return datetime.fromtimestamp(quarter * 900).astimezone().strftime("%Y-%m-%dT%H")
    except (ValueError, OverflowError, OSError):
        return ""
