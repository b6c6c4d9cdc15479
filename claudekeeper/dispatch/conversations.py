"""Conversations of work items: one for each item, however often it is dispatched."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable

import msgspec

from claudekeeper.attention.pending_attention import PendingAttention
from claudekeeper.contract.conversations import (
    AuditTrail,
    ConversationSettings,
    ResetRequest,
    WholeConversation,
    WorkConversation,
    WorkState,
)
from claudekeeper.contract.errors import StateUnwritable
from claudekeeper.contract.sessions import WorkItem
from claudekeeper.core.keyed_locks import KeyedLocks
from claudekeeper.core.tasks import Tasks
from claudekeeper.dispatch.ceiling_questions import CeilingQuestions
from claudekeeper.dispatch.conversation_state import ConversationState
from claudekeeper.dispatch.dispatches import DispatchService
from claudekeeper.dispatch.record import ConversationRecord
from claudekeeper.dispatch.session_reader import SessionReader
from claudekeeper.dispatch.store import ConversationStore, ListCursor, cursor_of
from claudekeeper.dispatch.turn_results import TurnResults
from claudekeeper.events.bus import EventBus
from claudekeeper.sessions.manager import SessionManager
from claudekeeper.sessions.session_owners import SessionOwners

DAY_SECONDS = 24 * 3600.0


class ConversationService:
    """The conversations by item. A lock for each item keeps its changes apart."""

    def __init__(
        self,
        store: ConversationStore,
        manager: SessionManager,
        bus: EventBus,
        attention: PendingAttention,
        sessions: SessionReader,
        owners: SessionOwners,
        settings: ConversationSettings,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.owners = owners
        self._store = store
        self._manager = manager
        self._settings = settings
        self._clock = clock
        self._tasks = Tasks()
        locks = KeyedLocks()
        self._lock = locks.hold
        self._state = state = ConversationState(store, manager, bus, sessions, settings, clock)
        self._turn_results = TurnResults(bus, owners.belongs_to_item)
        self._ceilings = CeilingQuestions(store, state, attention, locks, clock)
        self._dispatches = DispatchService(
            store,
            manager,
            self._turn_results,
            sessions,
            state,
            owners,
            self._ceilings,
            locks,
            settings,
            clock,
        )
        self._turn_results.unexpected.subscribe(self._dispatches.count_unexpected)
        self.dispatch = self._dispatches.dispatch
        self.wait_until_answer_saved = self._ceilings.wait_until_answer_saved

    async def start(self) -> None:
        await asyncio.to_thread(self._store.open)
        try:
            self.owners.set_owners(await asyncio.to_thread(self._store.session_owners))
            await self._ceilings.start()
        except StateUnwritable:
            return  # the keeper works without the store, which has logged why
        self._tasks.every(
            self._settings.sweep_seconds, self.sweep, name="conversations:sweep", at_once=True
        )

    async def close(self) -> None:
        """Called after the sessions are closed, so that the outcomes of their turns are stored."""
        await self._ceilings.close()
        await self._tasks.close()
        await self._dispatches.stop()
        self._turn_results.close()
        await self._dispatches.finish()
        await asyncio.to_thread(self._store.close)

    @property
    def counters(self) -> Counter[str]:
        """Counts since the start, for /metrics."""
        return self._state.counters

    async def all(
        self,
        project: str | None,
        state: WorkState | None,
        limit: int,
        after: ListCursor | None = None,
        session_id: str | None = None,
    ) -> tuple[list[WorkConversation], ListCursor | None]:
        """A page of conversations, last used first, and the cursor of the next page."""
        records: list[ConversationRecord] = []
        while len(records) <= limit:
            now = self._clock()
            page = await asyncio.to_thread(
                self._store.all, project, limit + 1, after, state, now, session_id
            )
            # the state depends on turns under way too, which the store does not have
            records += [each for each in page if state in (None, self._state.state(each))]
            if len(page) <= limit:
                break
            after = cursor_of(page[-1])
        cursor = cursor_of(records[limit - 1]) if len(records) > limit else None
        return [self._state.to_work_conversation(each) for each in records[:limit]], cursor

    async def get(self, key: str, project: str | None = None) -> WholeConversation:
        return await self._get_whole(await self._state.find_item(key, project))

    async def audit_trail(
        self,
        key: str | None,
        project: str | None,
        session_id: str | None,
        limit: int,
        before: int | None,
    ) -> AuditTrail:
        page, cursor = await asyncio.to_thread(
            self._store.audit_trail, key, project, session_id, limit, before
        )
        return AuditTrail(page, str(cursor) if cursor is not None else None)

    async def forget(self, key: str, project: str | None = None) -> WorkItem:
        """Removes the conversation and closes its session; transcripts stay."""
        item = await self._state.find_item(key, project)
        async with self._lock(item):
            record = await self._state.get_record(item)
            earlier, _, _ = await asyncio.to_thread(self._store.read_log, record)
            await asyncio.to_thread(self._store.forget, item)
            self._ceilings.withdraw(record)
            for session_id in {each.session_id for each in earlier} | {record.session or ""}:
                self.owners.set_owners({session_id: None})
            self._state.publish_update(record, "deleted", record.session or "")
        if record.session is not None:
            await self._manager.close_session(record.session)
        return item

    async def reset(
        self, key: str, request: ResetRequest, project: str | None = None
    ) -> WholeConversation:
        """Detaches the session, so that the next dispatch begins a new one."""
        item = await self._state.find_item(key, project)
        async with self._lock(item):
            record = await self._state.get_record(item)
            if not request.keep_system_prompt:
                record.prompt = None
            now = self._clock()
            record.updated, record.expires = now, now + record.lifetime
            await self._state.detach_and_close(record, "reset")
        return await self._get_whole(item)

    async def sweep(self) -> None:
        """Ends expired conversations, and deletes dispatches older than the audit trail keeps."""
        for item in await asyncio.to_thread(self._store.expired_items, self._clock()):
            async with self._lock(item):
                record = await asyncio.to_thread(self._store.get, item)
                if record is not None and self._state.has_expired(record):
                    await self._state.detach_and_close(record, "expired")
        for item in await asyncio.to_thread(self._store.items_with_uncounted):
            async with self._lock(item):
                record = await asyncio.to_thread(self._store.get, item)
                if record is not None:
                    await self._state.add_missing_usage(record)
        if self._settings.audit_days is not None:
            before = self._clock() - self._settings.audit_days * DAY_SECONDS
            await asyncio.to_thread(self._store.forget_dispatches, before)

    async def count_by_state(self) -> dict[WorkState, int]:
        """How many conversations there are in each state."""
        counts, expired = await asyncio.to_thread(self._store.count_by_state, self._clock())
        busy = sum(self._state.is_busy(session_id) for session_id in expired)
        if busy:
            counts["expired"] -= busy
            counts["active"] = counts.get("active", 0) + busy
        return counts

    async def _get_whole(self, item: WorkItem) -> WholeConversation:
        record = await self._state.get_record(item)
        earlier, acts, logged = await asyncio.to_thread(self._store.read_log, record)
        fields = msgspec.structs.asdict(self._state.to_work_conversation(record))
        return WholeConversation(**fields, earlier=earlier, acts=acts, log=logged)
