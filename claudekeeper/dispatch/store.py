"""The conversations of work items in SQLite, with the audit trail of their dispatches."""

from __future__ import annotations

import sqlite3
from typing import Any

import msgspec

from claudekeeper.contract.attention import Attention
from claudekeeper.contract.ceilings import Ceilings
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
from claudekeeper.dispatch.record import ConversationRecord
from claudekeeper.dispatch.store_file import StoreFile

# characters of a prompt in the audit trail
MAX_TEXT = 2_000
# dispatches in the log of a conversation
MAX_LOGGED = 100

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

# a place in the list of conversations: the time of the last use, and the item
ListCursor = tuple[float, WorkItem]


_COLUMNS = ", ".join(f":{name}" for name in ConversationRecord.__struct_fields__)
_INSERT = f"INSERT OR REPLACE INTO conversation VALUES ({_COLUMNS})"  # noqa: S608 - our own names


class ConversationStore(StoreFile):
    """The conversations, their dispatches and their audit trail."""

    # ---- reading ----

    def get(self, item: WorkItem) -> ConversationRecord | None:
        rows = self._select(
            "SELECT * FROM conversation WHERE key = ? AND project = ?", _key_of(item)
        )
        return _record_of(rows[0]) if rows else None

    def projects_of(self, key: str) -> list[str | None]:
        """The projects in which the key stands; None is that of items without a project."""
        rows = self._select(
            "SELECT project FROM conversation WHERE key = ? ORDER BY project", (key,)
        )
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
        """A page after a cursor, last used first; project "" has the items without one.

        With a state: those that may be in it. Whether they are depends on turns under way.
        """
        updated, item = after or (None, WorkItem(""))
        values = {
            "project": project,
            "session": session,
            "updated": updated,
            "key": item.key,
            "after": item.project or "",
            "state": state,
            "now": now,
            "limit": limit,
        }
        return [_record_of(row) for row in self._select(_SELECT_ALL, values)]

    def find_dispatch(self, uuid: str) -> tuple[WorkItem, LoggedDispatch] | None:
        """The last dispatch with this uuid, and its item."""
        rows = self._select(
            f"SELECT key, project, {_LOG_COLUMNS} WHERE uuid = ? ORDER BY id DESC LIMIT 1", (uuid,)
        )
        return (_item_of(*rows[0][:2]), _logged_dispatch(rows[0][2:])) if rows else None

    def audit_trail(
        self,
        key: str | None,
        project: str | None,
        session: str | None,
        limit: int,
        before: int | None = None,
    ) -> tuple[list[AuditedDispatch], int | None]:
        """A page of dispatches before an id, the last one first, and the id for the next page."""
        values = {
            "key": key,
            "project": project,
            "session": session,
            "before": before,
            "limit": limit + 1,
        }
        rows = self._select(_SELECT_TRAIL, values)
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
        rows = self._select(
            "SELECT key, project FROM conversation "
            "WHERE (session IS NOT NULL OR primer IS NOT NULL) AND expires <= ?",
            (now,),
        )
        return [_item_of(*row) for row in rows]

    def uncounted_dispatches(self, item: WorkItem) -> list[tuple[str, str]]:
        """Session and uuid of the dispatches whose end no keeper saw."""
        return self._select(
            "SELECT session, uuid FROM dispatch WHERE key = ? AND project = ? "
            "AND outcome = 'unknown' AND used IS NULL",
            _key_of(item),
        )

    def items_with_uncounted(self) -> list[WorkItem]:
        """The items that have such dispatches."""
        rows = self._select(
            "SELECT DISTINCT d.key, d.project FROM dispatch AS d JOIN conversation AS c "
            "ON c.key = d.key AND c.project = d.project AND d.at >= c.created "
            "WHERE d.outcome = 'unknown' AND d.used IS NULL"
        )
        return [_item_of(*row) for row in rows]

    def with_open_question(self) -> list[ConversationRecord]:
        rows = self._select("SELECT * FROM conversation WHERE question IS NOT NULL")
        return [_record_of(row) for row in rows]

    def session_owners(self) -> dict[str, WorkItem]:
        """Every session that is or was a conversation's."""
        rows = self._select(
            "SELECT session, key, project FROM earlier UNION ALL "
            "SELECT session, key, project FROM conversation WHERE session IS NOT NULL"
        )
        return {session: _item_of(key, project) for session, key, project in rows}

    def count_by_state(self, now: float) -> tuple[dict[WorkState, int], list[str]]:
        """The number in each state, and the sessions of those that count as expired.

        A conversation has not expired while its turn is under way.
        """
        with self._connection() as database:
            counts = database.execute(
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
        return dict(counts), [session for (session,) in expired]

    def read_log(
        self, record: ConversationRecord
    ) -> tuple[list[EarlierSession], list[AuditedAct], list[LoggedDispatch]]:
        """The earlier sessions, acts and dispatches of a conversation, oldest first."""
        item = _key_of(record.item)
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
                (*item, record.created, MAX_LOGGED),
            ).fetchall()
        return (
            [
                EarlierSession(session_id=session, ended=iso_of(at), why=why, details=details)
                for session, at, why, details in earlier
            ],
            [AuditedAct(at=iso_of(at), what=what, details=details) for at, what, details in acts],
            [_logged_dispatch(row) for row in reversed(logged)],
        )

    # ---- writing ----

    def put(self, record: ConversationRecord) -> None:
        with self._transaction() as database:
            self._put(database, record)

    def detach_session(
        self, record: ConversationRecord, old: str, why: EndReason, at: float, details: str | None
    ) -> None:
        """Stores the changed conversation, and its former session, in one transaction."""
        with self._transaction() as database:
            database.execute(
                "INSERT INTO earlier (key, project, session, ended, why, details) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (*_key_of(record.item), old, at, why, details),
            )
            self._put(database, record)

    def record_act(self, item: WorkItem, what: AuditAction, details: str, at: float) -> None:
        self._execute(
            "INSERT INTO act (key, project, at, what, details) VALUES (?, ?, ?, ?, ?)",
            (*_key_of(item), at, what, details),
        )

    def begin_dispatch(
        self, record: ConversationRecord, uuid: str, how: DispatchKind, text: str, at: float
    ) -> None:
        """Stores a dispatch before it is sent."""
        with self._transaction() as database:
            self._put(database, record)
            database.execute(
                "INSERT INTO dispatch (key, project, session, uuid, at, how, text) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (*_key_of(record.item), record.session, uuid, at, how, text[:MAX_TEXT]),
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
        self._execute(
            "UPDATE dispatch SET outcome = ?, tokens = ?, cost = ?, finished = ?, used = ? "
            "WHERE uuid = ? AND outcome IS NULL",
            (outcome, tokens, cost, at, used, uuid),
        )

    def record_usage(self, record: ConversationRecord, uuid: str, used: int, cost: float) -> None:
        """Stores what a dispatch used and the sums of its item in one transaction."""
        with self._transaction() as database:
            self._put(database, record)
            database.execute(
                "UPDATE dispatch SET used = ?, cost = ? "
                "WHERE uuid = ? AND outcome = 'unknown' AND used IS NULL",
                (used, round(cost, 6), uuid),
            )

    def forget(self, item: WorkItem) -> bool:
        with self._transaction() as database:
            database.execute("DELETE FROM earlier WHERE key = ? AND project = ?", _key_of(item))
            database.execute("DELETE FROM act WHERE key = ? AND project = ?", _key_of(item))
            deleted = database.execute(
                "DELETE FROM conversation WHERE key = ? AND project = ?", _key_of(item)
            )
            return deleted.rowcount > 0

    def forget_dispatches(self, before: float) -> int:
        """Deletes finished dispatches from before a time out of the audit trail."""
        return self._execute("DELETE FROM dispatch WHERE at < ? AND outcome IS NOT NULL", (before,))

    def _put(self, database: sqlite3.Connection, record: ConversationRecord) -> None:
        values = msgspec.structs.asdict(record)
        values["project"] = record.project or ""
        for name in ("metadata", "ceilings", "allowed"):
            values[name] = msgspec.json.encode(values[name]).decode()
        if record.question is not None:
            values["question"] = msgspec.json.encode(record.question).decode()
        database.execute(_INSERT, values)


def cursor_of(record: ConversationRecord) -> ListCursor:
    return record.updated, record.item


def _item_of(key: str, project: str) -> WorkItem:
    return WorkItem(key, project or None)


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
