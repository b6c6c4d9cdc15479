"""The thread of an item of work: whether it lives, how it looks, and parting from its session."""

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
from claudekeeper.dispatch.session_reader import SessionReader
from claudekeeper.dispatch.store import ConversationRecord, ConversationStore
from claudekeeper.events.bus import EventBus
from claudekeeper.sessions.manager import SessionManager


class ConversationState:
    """Asked, and changed, by whoever has the key to himself."""

    def __init__(
        self,
        book: ConversationStore,
        registry: SessionManager,
        bus: EventBus,
        sessions: SessionReader,
        settings: ConversationSettings,
        clock: Callable[[], float],
    ) -> None:
        self._store = book
        self._manager = registry
        self._bus = bus
        self._sessions = sessions
        self._settings = settings
        self._clock = clock
        # what happened since the start
        self.counters: Counter[str] = Counter()

    # ---- asking ----

    async def find_item(self, key: str, project: str | None) -> WorkItem:
        """Which item is meant: "" is the project of those without one, None the one there is."""
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
        kept = await asyncio.to_thread(self._store.get, item)
        if kept is None:
            raise ConversationNotFound
        return kept

    def has_expired(self, kept: ConversationRecord) -> bool:
        if kept.expires > self._clock():
            return False
        if kept.session is None:
            # a successor that never began
            return kept.primer is not None
        # whoever is still at work has not been forgotten
        return not self.is_busy(kept.session)

    def needs_room(self, kept: ConversationRecord) -> bool:
        """Its window is full, and nobody works on it."""
        return kept.full and kept.session is not None and not self.is_busy(kept.session)

    def is_busy(self, session_id: str) -> bool:
        live = self._manager.get(session_id)
        return live is not None and live.is_busy

    async def session_exists(self, session_id: str) -> bool:
        live = self._manager.get(session_id)
        if live is not None and not live.is_closing:
            return True
        return await self._sessions.exists(session_id)

    def state(self, kept: ConversationRecord) -> WorkState:
        if kept.ended is not None:
            return "ended"
        begun = kept.session is not None or kept.primer is not None
        if begun and not self.has_expired(kept):
            return "active"
        return "expired" if kept.expires <= self._clock() else "reset"

    def ceilings(self, kept: ConversationRecord) -> Ceilings:
        """Those that hold for it, with what a person allowed."""
        return raise_ceilings(self.base_ceilings(kept), kept.allowed)

    def base_ceilings(self, kept: ConversationRecord) -> Ceilings:
        """The lower ones of config.json's and those that were asked for."""
        return lowest_ceilings(self._settings.for_project(kept.project).ceilings, kept.ceilings)

    def to_work_conversation(self, kept: ConversationRecord) -> WorkConversation:
        return WorkConversation(
            key=kept.key,
            state=self.state(kept),
            session_id=kept.session,
            project=kept.project,
            workdir=kept.workdir,
            system_prompt=kept.prompt,
            metadata=kept.metadata,
            created=iso_of(kept.created),
            updated=iso_of(kept.updated),
            expires=iso_of(kept.expires),
            messages=self._sessions.message_count(kept.session) if kept.session else None,
            tokens=kept.tokens,
            last_window=kept.window,
            dispatches=kept.dispatches,
            cost_usd=round(kept.cost, 6),
            ceilings=self.ceilings(kept),
            attention_id=kept.question.id if kept.question is not None else None,
        )

    # ---- parting from a session ----

    async def detach_and_close(self, kept: ConversationRecord, why: EndReason) -> None:
        """And end what runs of it."""
        old = kept.session
        self.counters["expirations"] += why == "expired"
        await self.detach_session(kept, why, None)
        if old is not None:
            await self._manager.close_session(old)

    async def detach_session(
        self, kept: ConversationRecord, why: EndReason, details: str | None
    ) -> None:
        """The next dispatch begins another one."""
        old, kept.session, kept.primer = kept.session, None, None
        kept.window, kept.full, kept.done = 0, False, 0
        if old is None:
            await asyncio.to_thread(self._store.put, kept)
            return
        now = self._clock()
        await asyncio.to_thread(self._store.detach_session, kept, old, why, now, details)
        if why in ("expired", "reset"):
            self.publish_update(kept, why, "", old)

    # ---- telling ----

    async def record_act(
        self, kept: ConversationRecord, what: AuditAction, details: str, session_id: str
    ) -> None:
        """What was done to it by itself stands in the book, and everybody hears of it."""
        await asyncio.to_thread(self._store.record_act, kept.item, what, details, self._clock())
        self.publish_update(kept, what, details, session_id)

    def publish_update(
        self,
        kept: ConversationRecord,
        what: AuditAction,
        details: str,
        session_id: str | None = None,
    ) -> None:
        self._bus.publish(
            ConversationUpdated(
                session_id=session_id or kept.session or "",
                key=kept.key,
                project=kept.project,
                what=what,
                details=details,
            )
        )
