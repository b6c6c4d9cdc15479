"""The state of a work item's conversation, how clients see it, and its end."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable

from claudekeeper.contract.ceilings import Ceilings, lowest_ceilings, raise_ceilings
from claudekeeper.contract.conversations import (
    AuditAction,
    ConversationSettings,
    ConversationUpdated,
    EndReason,
    WorkConversation,
    WorkState,
)
from claudekeeper.contract.errors import ConversationNotFound, ProjectNeeded
from claudekeeper.contract.sessions import WorkItem
from claudekeeper.core.timestamps import iso_of
from claudekeeper.dispatch.record import ConversationRecord
from claudekeeper.dispatch.session_reader import SessionReader
from claudekeeper.dispatch.store import ConversationStore
from claudekeeper.events.bus import EventBus
from claudekeeper.sessions.manager import SessionManager


class ConversationState:
    """Reads and changes conversations; the caller holds the lock of the item."""

    def __init__(
        self,
        store: ConversationStore,
        manager: SessionManager,
        bus: EventBus,
        sessions: SessionReader,
        settings: ConversationSettings,
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._manager = manager
        self._bus = bus
        self._sessions = sessions
        self._settings = settings
        self._clock = clock
        # since the start, for /metrics
        self.counters: Counter[str] = Counter()

    # ---- reading ----

    async def find_item(self, key: str, project: str | None) -> WorkItem:
        """The item of a key. Project "" is that of items without one, None the only one."""
        if project is not None:
            return WorkItem(key, project or None)
        projects = await asyncio.to_thread(self._store.projects_of, key)
        if len(projects) > 1:
            names = ", ".join(each or '"", without a project' for each in projects)
            raise ProjectNeeded(
                f"The key {key!r} stands in several projects ({names}): say which with 'project'.",
                choices=tuple(each or "" for each in projects),
            )
        return WorkItem(key, projects[0] if projects else None)

    async def get_record(self, item: WorkItem) -> ConversationRecord:
        record = await asyncio.to_thread(self._store.get, item)
        if record is None:
            raise ConversationNotFound
        return record

    def has_expired(self, record: ConversationRecord) -> bool:
        if record.expires > self._clock():
            return False
        if record.session is None:
            # the next session of a full conversation, which was never begun
            return record.primer is not None
        # a conversation with a turn under way is in use
        return not self.is_busy(record.session)

    def needs_room(self, record: ConversationRecord) -> bool:
        """Its window is full, and no turn is under way."""
        return record.full and record.session is not None and not self.is_busy(record.session)

    def is_busy(self, session_id: str) -> bool:
        live = self._manager.get(session_id)
        return live is not None and live.is_busy

    async def session_exists(self, session_id: str) -> bool:
        live = self._manager.get(session_id)
        if live is not None and not live.is_closing:
            return True
        return await self._sessions.exists(session_id)

    def state(self, record: ConversationRecord) -> WorkState:
        if record.ended is not None:
            return "ended"
        begun = record.session is not None or record.primer is not None
        if begun and not self.has_expired(record):
            return "active"
        return "expired" if record.expires <= self._clock() else "reset"

    def ceilings(self, record: ConversationRecord) -> Ceilings:
        """Its ceilings, with what a person allowed beyond them."""
        return raise_ceilings(self.base_ceilings(record), record.allowed)

    def base_ceilings(self, record: ConversationRecord) -> Ceilings:
        """The lower of the ceilings in config.json and in the request."""
        return lowest_ceilings(self._settings.for_project(record.project).ceilings, record.ceilings)

    def to_work_conversation(self, record: ConversationRecord) -> WorkConversation:
        return WorkConversation(
            key=record.key,
            state=self.state(record),
            session_id=record.session,
            project=record.project,
            workdir=record.workdir,
            system_prompt=record.prompt,
            metadata=record.metadata,
            created=iso_of(record.created),
            updated=iso_of(record.updated),
            expires=iso_of(record.expires),
            messages=self._sessions.message_count(record.session) if record.session else None,
            tokens=record.tokens,
            last_window=record.window,
            dispatches=record.dispatches,
            cost_usd=round(record.cost, 6),
            ceilings=self.ceilings(record),
            attention_id=record.question.id if record.question is not None else None,
        )

    async def add_missing_usage(self, record: ConversationRecord) -> None:
        """Counts turns whose keeper was killed, from their transcripts."""
        for session_id, uuid in await asyncio.to_thread(
            self._store.uncounted_dispatches, record.item
        ):
            if self.is_busy(session_id):
                continue  # a person continues the turn
            tokens, cost = await self._sessions.usage_of_prompt(session_id, uuid)
            record.tokens += tokens
            record.cost += cost
            self.counters["tokens"] += tokens
            await asyncio.to_thread(self._store.record_usage, record, uuid, tokens, cost)

    # ---- ending a session ----

    async def detach_and_close(self, record: ConversationRecord, why: EndReason) -> None:
        """Detaches the session and closes it."""
        old = record.session
        self.counters["expirations"] += why == "expired"
        await self.detach_session(record, why, None)
        if old is not None:
            await self._manager.close_session(old)

    async def detach_session(
        self, record: ConversationRecord, why: EndReason, details: str | None
    ) -> None:
        """Detaches the session: the next dispatch begins another one."""
        old, record.session, record.primer = record.session, None, None
        record.window, record.full, record.done = 0, False, 0
        if old is None:
            await asyncio.to_thread(self._store.put, record)
            return
        now = self._clock()
        await asyncio.to_thread(self._store.detach_session, record, old, why, now, details)
        if why in ("expired", "reset"):
            self.publish_update(record, why, "", old)

    # ---- publishing ----

    async def record_act(
        self, record: ConversationRecord, what: AuditAction, details: str, session_id: str
    ) -> None:
        """Stores and publishes what the keeper did to a conversation by itself."""
        await asyncio.to_thread(self._store.record_act, record.item, what, details, self._clock())
        self.publish_update(record, what, details, session_id)

    def publish_update(
        self,
        record: ConversationRecord,
        what: AuditAction,
        details: str,
        session_id: str | None = None,
    ) -> None:
        self._bus.publish(
            ConversationUpdated(
                session_id=session_id or record.session or "",
                key=record.key,
                project=record.project,
                what=what,
                details=details,
            )
        )
