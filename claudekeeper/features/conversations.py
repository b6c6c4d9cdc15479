"""Conversations that belong to work: one thread for an item, however often it is dispatched."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from collections import Counter
from collections.abc import Callable

from claudekeeper.features.ceilings import CeilingQuestions
from claudekeeper.features.conversation_book import Book, Kept, Place, place_of
from claudekeeper.features.dispatches import Dispatches
from claudekeeper.features.locks import KeyedLocks
from claudekeeper.features.outcomes import Outcomes
from claudekeeper.features.reckoning import Reckoning
from claudekeeper.features.succession import Sessions
from claudekeeper.features.threads import Threads
from claudekeeper.live.attention import Desk
from claudekeeper.live.bus import Bus
from claudekeeper.live.registry import Registry
from claudekeeper.live.tasks import Tasks
from claudekeeper.model.dispatch import (
    AuditTrail,
    ConversationSettings,
    Ended,
    Reset,
    WholeConversation,
    WorkConversation,
    WorkState,
)
from claudekeeper.model.errors import KeeperError, StateUnwritable
from claudekeeper.model.sessions import WorkItem

log = logging.getLogger(__name__)

DAY = 24 * 3600.0


class Conversations:
    """The conversations by item. Whatever is done to one is done by one at a time."""

    def __init__(
        self,
        book: Book,
        registry: Registry,
        bus: Bus,
        desk: Desk,
        sessions: Sessions,
        settings: ConversationSettings,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._book = book
        self._registry = registry
        self._settings = settings
        self._clock = clock
        self._tasks = Tasks()
        locks = KeyedLocks()
        self._alone = locks.alone
        self._threads = threads = Threads(book, registry, bus, sessions, settings, clock)
        self._outcomes = Outcomes(bus, threads.owns, self._not_dispatched)
        self._ceilings = CeilingQuestions(book, threads, desk, locks, clock)
        self._reckoning = Reckoning(book, sessions, threads)
        self._dispatches = Dispatches(
            book,
            registry,
            self._outcomes,
            sessions,
            threads,
            self._ceilings,
            self._reckoning,
            locks,
            settings,
            clock,
        )
        self.dispatch = self._dispatches.take
        self.answer_written = self._ceilings.answer_written
        self.owns = threads.owns
        self.item_of = threads.item_of

    async def start(self) -> None:
        await asyncio.to_thread(self._book.open)
        try:
            self._threads.belongs(await asyncio.to_thread(self._book.sessions))
            await self._ceilings.start()
        except StateUnwritable:
            return  # the keeper works without it; the book has said why
        self._tasks.start(self._keep_sweeping(), name="conversations:sweep")

    async def close(self) -> None:
        """After the sessions were ended: what became of their turns is still written down."""
        await self._ceilings.close()
        await self._tasks.close()
        await self._dispatches.end()
        self._outcomes.close()
        await self._dispatches.finish()
        await asyncio.to_thread(self._book.close)

    def _not_dispatched(self, session_id: str, uuid: str | None, ended: Ended) -> None:
        self._dispatches.count(session_id, uuid, ended)

    @property
    def tally(self) -> Counter[str]:
        """What happened since the start, for /metrics."""
        return self._threads.tally

    def on_owner_changed(self, tell: Callable[[str], None]) -> None:
        """`tell` hears of each session that is an item's now, or no longer."""
        self._threads.owner_changed = tell

    # ---- asking ----

    async def all(
        self,
        project: str | None,
        state: WorkState | None,
        limit: int,
        after: Place | None = None,
        session_id: str | None = None,
    ) -> tuple[list[WorkConversation], Place | None]:
        """The one used last first, and where the next page begins."""
        found: list[Kept] = []
        while len(found) <= limit:
            now = self._clock()
            kept = await asyncio.to_thread(
                self._book.all, project, limit + 1, after, state, now, session_id
            )
            # what state it is in depends on what runs: the book cannot tell all of it
            found += [each for each in kept if state in (None, self._threads.state(each))]
            if len(kept) <= limit:
                break
            after = place_of(kept[-1])
        more = place_of(found[limit - 1]) if len(found) > limit else None
        return [self._threads.shown(each) for each in found[:limit]], more

    async def get(self, key: str, project: str | None = None) -> WholeConversation:
        return await self._whole(await self._threads.item(key, project))

    async def trail(
        self,
        key: str | None,
        project: str | None,
        session_id: str | None,
        limit: int,
        before: int | None,
    ) -> AuditTrail:
        page, more = await asyncio.to_thread(
            self._book.trail, key, project, session_id, limit, before
        )
        return AuditTrail(page, str(more) if more is not None else None)

    async def forget(self, key: str, project: str | None = None) -> WorkItem:
        """The link goes, and what runs of it; transcripts stay."""
        item = await self._threads.item(key, project)
        async with self._alone(item):
            kept = await self._threads.known(item)
            earlier, _, _ = await asyncio.to_thread(self._book.story, kept)
            await asyncio.to_thread(self._book.forget, item)
            self._ceilings.withdraw(kept)
            for session_id in {each.session_id for each in earlier} | {kept.session or ""}:
                self._threads.belongs({session_id: None})
            self._threads.tell(kept, "deleted", kept.session or "")
        if kept.session is not None:
            await self._registry.close_session(kept.session)
        return item

    async def reset(self, key: str, wish: Reset, project: str | None = None) -> WholeConversation:
        """The next dispatch begins afresh."""
        item = await self._threads.item(key, project)
        async with self._alone(item):
            kept = await self._threads.known(item)
            if not wish.keep_system_prompt:
                kept.prompt = None
            now = self._clock()
            kept.updated, kept.expires = now, now + kept.lifetime
            await self._threads.leave(kept, "reset")
        return await self._whole(item)

    async def sweep(self) -> None:
        """Let go of what has expired, and of dispatches that were kept long enough."""
        for item in await asyncio.to_thread(self._book.expired, self._clock()):
            async with self._alone(item):
                kept = await asyncio.to_thread(self._book.get, item)
                if kept is not None and self._threads.has_expired(kept):
                    await self._threads.leave(kept, "expired")
        for item in await asyncio.to_thread(self._book.all_unreckoned):
            async with self._alone(item):
                kept = await asyncio.to_thread(self._book.get, item)
                if kept is not None:
                    await self._reckoning.complete(kept)
        if self._settings.audit_days is not None:
            before = self._clock() - self._settings.audit_days * DAY
            await asyncio.to_thread(self._book.forget_dispatches, before)

    async def counted(self) -> dict[WorkState, int]:
        """How many conversations there are by state."""
        counts, expired = await asyncio.to_thread(self._book.counted, self._clock())
        still = sum(self._threads.busy(session_id) for session_id in expired)
        if still:
            counts["expired"] -= still
            counts["active"] = counts.get("active", 0) + still
        return counts

    async def _whole(self, item: WorkItem) -> WholeConversation:
        kept = await self._threads.known(item)
        earlier, acts, logged = await asyncio.to_thread(self._book.story, kept)
        shown = self._threads.shown(kept)
        fields = {name: getattr(shown, name) for name in shown.__struct_fields__}
        return WholeConversation(**fields, earlier=earlier, acts=acts, log=logged)

    # ---- by itself ----

    async def _keep_sweeping(self) -> None:
        while True:
            try:
                await self.sweep()
            except (sqlite3.Error, KeeperError) as error:
                # a full disk, say: every use looks for itself, and there is a next time
                log.warning("expired conversations could not be let go of: %s", error)
            await asyncio.sleep(self._settings.sweep_seconds)
