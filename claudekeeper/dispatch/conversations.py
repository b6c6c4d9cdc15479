"""Conversations that belong to work: one thread for an item, however often it is dispatched."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable

from claudekeeper.attention.pending_attention import PendingAttention
from claudekeeper.contract.conversations import (
    AuditTrail,
    ConversationSettings,
    DispatchOutcome,
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
from claudekeeper.dispatch.killed_turns import KilledTurnUsage
from claudekeeper.dispatch.session_reader import SessionReader
from claudekeeper.dispatch.store import ConversationRecord, ConversationStore, ListCursor, cursor_of
from claudekeeper.dispatch.turn_results import TurnResults
from claudekeeper.events.bus import EventBus
from claudekeeper.sessions.manager import SessionManager
from claudekeeper.sessions.session_owners import SessionOwners

DAY_SECONDS = 24 * 3600.0


class ConversationService:
    """The conversations by item. Whatever is done to one is done by one at a time."""

    def __init__(
        self,
        book: ConversationStore,
        registry: SessionManager,
        bus: EventBus,
        desk: PendingAttention,
        sessions: SessionReader,
        owners: SessionOwners,
        settings: ConversationSettings,
        clock: Callable[[], float] = time.time,
    ) -> None:
        # which sessions are an item's
        self.owners = owners
        self._store = book
        self._manager = registry
        self._settings = settings
        self._clock = clock
        self._tasks = Tasks()
        locks = KeyedLocks()
        self._lock = locks.hold
        self._state = threads = ConversationState(book, registry, bus, sessions, settings, clock)
        self._turn_results = TurnResults(bus, owners.belongs_to_item, self._not_dispatched)
        self._ceilings = CeilingQuestions(book, threads, desk, locks, clock)
        self._killed_turns = KilledTurnUsage(book, sessions, threads)
        self._dispatches = DispatchService(
            book,
            registry,
            self._turn_results,
            sessions,
            threads,
            owners,
            self._ceilings,
            self._killed_turns,
            locks,
            settings,
            clock,
        )
        self.dispatch = self._dispatches.dispatch
        self.wait_until_answer_saved = self._ceilings.wait_until_answer_saved

    async def start(self) -> None:
        await asyncio.to_thread(self._store.open)
        try:
            self.owners.set_owners(await asyncio.to_thread(self._store.session_owners))
            await self._ceilings.start()
        except StateUnwritable:
            return  # the keeper works without it; the book has said why
        self._tasks.every(
            self._settings.sweep_seconds, self.sweep, name="conversations:sweep", at_once=True
        )

    async def close(self) -> None:
        """After the sessions were ended: what became of their turns is still written down."""
        await self._ceilings.close()
        await self._tasks.close()
        await self._dispatches.stop()
        self._turn_results.close()
        await self._dispatches.finish()
        await asyncio.to_thread(self._store.close)

    def _not_dispatched(self, session_id: str, uuid: str | None, ended: DispatchOutcome) -> None:
        self._dispatches.count(session_id, uuid, ended)

    @property
    def counters(self) -> Counter[str]:
        """What happened since the start, for /metrics."""
        return self._state.counters

    # ---- asking ----

    async def all(
        self,
        project: str | None,
        state: WorkState | None,
        limit: int,
        after: ListCursor | None = None,
        session_id: str | None = None,
    ) -> tuple[list[WorkConversation], ListCursor | None]:
        """The one used last first, and where the next page begins."""
        found: list[ConversationRecord] = []
        while len(found) <= limit:
            now = self._clock()
            kept = await asyncio.to_thread(
                self._store.all, project, limit + 1, after, state, now, session_id
            )
            # what state it is in depends on what runs: the book cannot tell all of it
            found += [each for each in kept if state in (None, self._state.state(each))]
            if len(kept) <= limit:
                break
            after = cursor_of(kept[-1])
        more = cursor_of(found[limit - 1]) if len(found) > limit else None
        return [self._state.to_work_conversation(each) for each in found[:limit]], more

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
        page, more = await asyncio.to_thread(
            self._store.audit_trail, key, project, session_id, limit, before
        )
        return AuditTrail(page, str(more) if more is not None else None)

    async def forget(self, key: str, project: str | None = None) -> WorkItem:
        """The link goes, and what runs of it; transcripts stay."""
        item = await self._state.find_item(key, project)
        async with self._lock(item):
            kept = await self._state.get_record(item)
            earlier, _, _ = await asyncio.to_thread(self._store.read_log, kept)
            await asyncio.to_thread(self._store.forget, item)
            self._ceilings.withdraw(kept)
            for session_id in {each.session_id for each in earlier} | {kept.session or ""}:
                self.owners.set_owners({session_id: None})
            self._state.publish_update(kept, "deleted", kept.session or "")
        if kept.session is not None:
            await self._manager.close_session(kept.session)
        return item

    async def reset(
        self, key: str, wish: ResetRequest, project: str | None = None
    ) -> WholeConversation:
        """The next dispatch begins afresh."""
        item = await self._state.find_item(key, project)
        async with self._lock(item):
            kept = await self._state.get_record(item)
            if not wish.keep_system_prompt:
                kept.prompt = None
            now = self._clock()
            kept.updated, kept.expires = now, now + kept.lifetime
            await self._state.detach_and_close(kept, "reset")
        return await self._get_whole(item)

    async def sweep(self) -> None:
        """Let go of what has expired, and of dispatches that were kept long enough."""
        for item in await asyncio.to_thread(self._store.expired_items, self._clock()):
            async with self._lock(item):
                kept = await asyncio.to_thread(self._store.get, item)
                if kept is not None and self._state.has_expired(kept):
                    await self._state.detach_and_close(kept, "expired")
        for item in await asyncio.to_thread(self._store.items_with_uncounted):
            async with self._lock(item):
                kept = await asyncio.to_thread(self._store.get, item)
                if kept is not None:
                    await self._killed_turns.add_missing_usage(kept)
        if self._settings.audit_days is not None:
            before = self._clock() - self._settings.audit_days * DAY_SECONDS
            await asyncio.to_thread(self._store.forget_dispatches, before)

    async def count_by_state(self) -> dict[WorkState, int]:
        """How many conversations there are by state."""
        counts, expired = await asyncio.to_thread(self._store.count_by_state, self._clock())
        still = sum(self._state.is_busy(session_id) for session_id in expired)
        if still:
            counts["expired"] -= still
            counts["active"] = counts.get("active", 0) + still
        return counts

    async def _get_whole(self, item: WorkItem) -> WholeConversation:
        kept = await self._state.get_record(item)
        earlier, acts, logged = await asyncio.to_thread(self._store.read_log, kept)
        shown = self._state.to_work_conversation(kept)
        fields = {name: getattr(shown, name) for name in shown.__struct_fields__}
        return WholeConversation(**fields, earlier=earlier, acts=acts, log=logged)
