"""The book of conversations for work: one SQLite file in the keeper's home, whole after any end."""

from __future__ import annotations

import sqlite3
from typing import Any

import msgspec

from claudekeeper.contract.attention import Attention
from claudekeeper.contract.ceilings import Ceilings, CeilingUsage
from claudekeeper.contract.conversations import (
    AuditAction,
    AuditedAct,
    AuditedDispatch,
    DispatchKind,
    EarlierSession,
    EndReason,
    LoggedDispatch,
    WorkState,
)
from claudekeeper.contract.sessions import WorkItem
from claudekeeper.core.timestamps import iso_of
from claudekeeper.dispatch.store_file import StoreFile

# what of a dispatch's words stands in the audit trail
MOST_TEXT = 2_000
MOST_LOGGED = 100

_SELECT_ALL = """
SELECT * FROM conversation AS c
WHERE (:project IS NULL OR project = :project)
  AND (
    :session IS NULL OR session = :session
    OR EXISTS (
      SELECT 1 FROM earlier AS e
      WHERE e.session = :session AND e.key = c.key AND e.project = c.project
    )
  )
  AND (:updated IS NULL OR (updated, key, project) < (:updated, :key, :after))
  AND (
    :state IS NULL
    OR :state = 'ended' AND ended IS NOT NULL
    OR ended IS NULL AND (
      :state = 'active' AND (session IS NOT NULL OR primer IS NOT NULL)
      OR :state = 'expired' AND expires <= :now
      OR :state = 'reset' AND expires > :now AND session IS NULL AND primer IS NULL
    )
  )
ORDER BY updated DESC, key DESC, project DESC LIMIT :limit
"""
_LOG_COLUMNS = "at, session, uuid, how, text, outcome, tokens, used, cost, finished FROM dispatch"
_SELECT_TRAIL = f"""
SELECT id, key, project, {_LOG_COLUMNS}
WHERE (:key IS NULL OR key = :key) AND (:project IS NULL OR project = :project)
  AND (:session IS NULL OR session = :session) AND (:before IS NULL OR id < :before)
ORDER BY id DESC LIMIT :limit
"""

# where a conversation stands in the list: when it was used, and its item
ListCursor = tuple[float, WorkItem]


class ConversationRecord(msgspec.Struct, kw_only=True):
    """A conversation as it is written down; times in seconds since the epoch.

    The fields are the columns of its table, in their order.
    """

    key: str
    project: str | None
    workdir: str
    session: str | None
    prompt: str | None
    # what is told of the past beside the persona
    primer: str | None = None
    metadata: dict[str, Any]
    created: float
    updated: float
    expires: float
    lifetime: float
    # what the session filled of its window at last, and of which model's
    window: int = 0
    model: str | None = None
    dispatches: int = 0
    # turns of this session that were seen through
    done: int = 0
    # whether it reached the threshold, and nothing was done about that yet
    full: bool = False
    # what all turns of the item used
    tokens: int = 0
    cost: float = 0.0
    # what was asked for; what a person allowed beyond it, in all
    ceilings: Ceilings = Ceilings()
    allowed: Ceilings = Ceilings()
    # the question that waits for a person since a ceiling was reached
    question: Attention | None = None
    # when a person ended it
    ended: float | None = None

    @property
    def item(self) -> WorkItem:
        return WorkItem(self.key, self.project)

    def usage_at(self, now: float) -> CeilingUsage:
        return CeilingUsage(
            round(self.cost, 6), self.dispatches, max(0.0, now - self.created) / 3600
        )


_COLUMNS = ", ".join(f":{name}" for name in ConversationRecord.__struct_fields__)
_INSERT = f"INSERT OR REPLACE INTO conversation VALUES ({_COLUMNS})"  # noqa: S608 - names of ours


class ConversationStore(StoreFile):
    """Every method blocks: call it in a thread."""

    # ---- reading ----

    def get(self, item: WorkItem) -> ConversationRecord | None:
        with self._connection() as database:
            row = database.execute(
                "SELECT * FROM conversation WHERE key = ? AND project = ?", _key_of(item)
            ).fetchone()
        return _record_of(row) if row else None

    def projects_of(self, key: str) -> list[str | None]:
        """Where a key stands; None is that of items without a project."""
        with self._connection() as database:
            rows = database.execute(
                "SELECT project FROM conversation WHERE key = ? ORDER BY project", (key,)
            ).fetchall()
        return [project or None for (project,) in rows]

    def all(
        self,
        project: str | None,
        limit: int,
        after: ListCursor | None = None,
        state: WorkState | None = None,
        now: float = 0.0,
        session: str | None = None,
    ) -> list[ConversationRecord]:
        """The one used last first; those behind a place where one is given, and those that may be
        in a state: whether they are depends on what runs. The project "" has those without one.
        """
        updated, item = after or (None, WorkItem(""))
        wanted = {
            "project": project,
            "session": session,
            "updated": updated,
            "key": item.key,
            "after": item.project or "",
            "state": state,
            "now": now,
            "limit": limit,
        }
        with self._connection() as database:
            rows = database.execute(_SELECT_ALL, wanted).fetchall()
        return [_record_of(row) for row in rows]

    def find_dispatch(self, uuid: str) -> tuple[WorkItem, LoggedDispatch] | None:
        """The last dispatch that was made under this name, and for which item."""
        with self._connection() as database:
            row = database.execute(
                f"SELECT key, project, {_LOG_COLUMNS} WHERE uuid = ? ORDER BY id DESC",
                (uuid,),
            ).fetchone()
        return (WorkItem(row[0], row[1] or None), _logged_dispatch(row[2:])) if row else None

    def audit_trail(
        self,
        key: str | None,
        project: str | None,
        session: str | None,
        limit: int,
        before: int | None = None,
    ) -> tuple[list[AuditedDispatch], int | None]:
        """Dispatches, the last first, and before which one the next page begins."""
        wanted = {
            "key": key,
            "project": project,
            "session": session,
            "before": before,
            "limit": limit + 1,
        }
        with self._connection() as database:
            rows = database.execute(_SELECT_TRAIL, wanted).fetchall()
        page = [
            AuditedDispatch(
                key=row[1],
                project=row[2] or None,
                **msgspec.structs.asdict(_logged_dispatch(row[3:])),
            )
            for row in rows[:limit]
        ]
        return page, rows[limit - 1][0] if len(rows) > limit else None

    def expired_items(self, now: float) -> list[WorkItem]:
        with self._connection() as database:
            rows = database.execute(
                "SELECT key, project FROM conversation "
                "WHERE (session IS NOT NULL OR primer IS NOT NULL) AND expires <= ?",
                (now,),
            ).fetchall()
        return [WorkItem(key, project or None) for key, project in rows]

    def uncounted_dispatches(self, item: WorkItem) -> list[tuple[str, str]]:
        """Sessions and uuids of the dispatches whose end no keeper saw."""
        with self._connection() as database:
            return database.execute(
                "SELECT session, uuid FROM dispatch WHERE key = ? AND project = ? "
                "AND outcome = 'unknown' AND used IS NULL",
                _key_of(item),
            ).fetchall()

    def items_with_uncounted(self) -> list[WorkItem]:
        """The items that have such dispatches."""
        with self._connection() as database:
            rows = database.execute(
                "SELECT DISTINCT d.key, d.project FROM dispatch AS d JOIN conversation AS c "
                "ON c.key = d.key AND c.project = d.project AND d.at >= c.created "
                "WHERE d.outcome = 'unknown' AND d.used IS NULL"
            ).fetchall()
        return [WorkItem(key, project or None) for key, project in rows]

    def with_open_question(self) -> list[ConversationRecord]:
        """Those of which a person is asked something."""
        with self._connection() as database:
            rows = database.execute(
                "SELECT * FROM conversation WHERE question IS NOT NULL"
            ).fetchall()
        return [_record_of(row) for row in rows]

    def session_owners(self) -> dict[str, WorkItem]:
        """Every session that is or was a conversation's."""
        with self._connection() as database:
            rows = database.execute(
                "SELECT session, key, project FROM earlier UNION ALL "
                "SELECT session, key, project FROM conversation WHERE session IS NOT NULL"
            ).fetchall()
        return {session: WorkItem(key, project or None) for session, key, project in rows}

    def count_by_state(self, now: float) -> tuple[dict[WorkState, int], list[str]]:
        """How many there are by state; and the sessions of those that may have expired, which
        they have not while their turn runs.
        """
        with self._connection() as database:
            rows = database.execute(
                "SELECT CASE WHEN ended IS NOT NULL THEN 'ended' WHEN expires <= ? THEN 'expired' "
                "WHEN session IS NOT NULL OR primer IS NOT NULL THEN 'active' ELSE 'reset' END, "
                "count(*) FROM conversation GROUP BY 1",
                (now,),
            ).fetchall()
            expired = database.execute(
                "SELECT session FROM conversation "
                "WHERE expires <= ? AND session IS NOT NULL AND ended IS NULL",
                (now,),
            ).fetchall()
        return dict(rows), [session for (session,) in expired]

    def read_log(
        self, kept: ConversationRecord
    ) -> tuple[list[EarlierSession], list[AuditedAct], list[LoggedDispatch]]:
        """What became of a conversation, oldest first."""
        item = _key_of(kept.item)
        with self._connection() as database:
            earlier = database.execute(
                "SELECT session, ended, why, details FROM earlier "
                "WHERE key = ? AND project = ? ORDER BY id",
                item,
            ).fetchall()
            acts = database.execute(
                "SELECT at, what, details FROM act WHERE key = ? AND project = ? ORDER BY id", item
            ).fetchall()
            logged = database.execute(
                f"SELECT {_LOG_COLUMNS} WHERE key = ? AND project = ? AND at >= ? "
                "ORDER BY id DESC LIMIT ?",
                (*item, kept.created, MOST_LOGGED),
            ).fetchall()
        return (
            [
                EarlierSession(session_id=s, ended=iso_of(at), why=w, details=d)
                for s, at, w, d in earlier
            ],
            [AuditedAct(at=iso_of(at), what=what, details=details) for at, what, details in acts],
            [_logged_dispatch(row) for row in reversed(logged)],
        )

    # ---- writing ----

    def put(self, kept: ConversationRecord) -> None:
        with self._transaction() as database:
            self._put(database, kept)

    def detach_session(
        self, kept: ConversationRecord, old: str, why: EndReason, at: float, details: str | None
    ) -> None:
        """The conversation as it is now, without the session that it had: both or neither."""
        with self._transaction() as database:
            database.execute(
                "INSERT INTO earlier (key, project, session, ended, why, details) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (*_key_of(kept.item), old, at, why, details),
            )
            self._put(database, kept)

    def record_act(self, item: WorkItem, what: AuditAction, details: str, at: float) -> None:
        with self._transaction() as database:
            database.execute(
                "INSERT INTO act (key, project, at, what, details) VALUES (?, ?, ?, ?, ?)",
                (*_key_of(item), at, what, details),
            )

    def begin_dispatch(
        self, kept: ConversationRecord, uuid: str, how: DispatchKind, text: str, at: float
    ) -> None:
        """A dispatch is on its way; written before it is sent."""
        with self._transaction() as database:
            self._put(database, kept)
            database.execute(
                "INSERT INTO dispatch (key, project, session, uuid, at, how, text) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (*_key_of(kept.item), kept.session, uuid, at, how, text[:MOST_TEXT]),
            )

    def finish_dispatch(
        self,
        uuid: str,
        outcome: str,
        tokens: int | None,
        cost: float | None,
        at: float,
        used: int | None = None,
    ) -> None:
        with self._transaction() as database:
            database.execute(
                "UPDATE dispatch SET outcome = ?, tokens = ?, cost = ?, finished = ?, used = ? "
                "WHERE uuid = ? AND outcome IS NULL",
                (outcome, tokens, cost, at, used, uuid),
            )

    def record_usage(self, kept: ConversationRecord, uuid: str, used: int, cost: float) -> None:
        """What a dispatch used is known after all: it and the sums of its item, or neither."""
        with self._transaction() as database:
            self._put(database, kept)
            database.execute(
                "UPDATE dispatch SET used = ?, cost = ? "
                "WHERE uuid = ? AND outcome = 'unknown' AND used IS NULL",
                (used, round(cost, 6), uuid),
            )

    def forget(self, item: WorkItem) -> bool:
        with self._transaction() as database:
            database.execute("DELETE FROM earlier WHERE key = ? AND project = ?", _key_of(item))
            database.execute("DELETE FROM act WHERE key = ? AND project = ?", _key_of(item))
            gone = database.execute(
                "DELETE FROM conversation WHERE key = ? AND project = ?", _key_of(item)
            )
            return gone.rowcount > 0

    def forget_dispatches(self, before: float) -> int:
        """Those that ended before a time leave the audit trail."""
        with self._transaction() as database:
            gone = database.execute(
                "DELETE FROM dispatch WHERE at < ? AND outcome IS NOT NULL", (before,)
            )
            return gone.rowcount

    def _put(self, database: sqlite3.Connection, kept: ConversationRecord) -> None:
        values = msgspec.structs.asdict(kept)
        values["project"] = kept.project or ""
        for name in ("metadata", "ceilings", "allowed"):
            values[name] = msgspec.json.encode(values[name]).decode()
        if kept.question is not None:
            values["question"] = msgspec.json.encode(kept.question).decode()
        database.execute(_INSERT, values)


def cursor_of(kept: ConversationRecord) -> ListCursor:
    return kept.updated, kept.item


def _key_of(item: WorkItem) -> tuple[str, str]:
    return item.key, item.project or ""


def _record_of(row: tuple[Any, ...]) -> ConversationRecord:
    values = dict(zip(ConversationRecord.__struct_fields__, row, strict=True))
    values["project"] = values["project"] or None
    values["metadata"] = msgspec.json.decode(values["metadata"], type=dict[str, Any])
    values["full"] = bool(values["full"])
    for name in ("ceilings", "allowed"):
        values[name] = msgspec.json.decode(values[name], type=Ceilings)
    if values["question"] is not None:
        values["question"] = msgspec.json.decode(values["question"], type=Attention)
    return ConversationRecord(**values)


def _logged_dispatch(row: tuple[Any, ...]) -> LoggedDispatch:
    at, session, uuid, how, text, outcome, tokens, used, cost, finished = row
    return LoggedDispatch(
        at=iso_of(at),
        session_id=session,
        uuid=uuid,
        how=how,
        text=text,
        outcome=outcome,
        tokens=tokens,
        tokens_used=used,
        cost_usd=cost,
        finished=iso_of(finished) if finished is not None else None,
    )
