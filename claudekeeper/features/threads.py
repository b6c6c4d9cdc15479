"""The thread of an item of work: whether it lives, how it looks, and parting from its session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from claudekeeper.features.conversation_book import Book, Kept, iso
from claudekeeper.features.succession import Sessions
from claudekeeper.live.bus import Bus
from claudekeeper.live.registry import Registry
from claudekeeper.model.dispatch import (
    ConversationUpdated,
    What,
    Why,
    WorkConversation,
    WorkState,
)
from claudekeeper.model.errors import ConversationNotFound


class Threads:
    """Asked, and changed, by whoever has the key to himself."""

    def __init__(
        self,
        book: Book,
        registry: Registry,
        bus: Bus,
        sessions: Sessions,
        clock: Callable[[], float],
    ) -> None:
        self._book = book
        self._registry = registry
        self._bus = bus
        self._sessions = sessions
        self._clock = clock

    # ---- asking ----

    async def known(self, key: str) -> Kept:
        kept = await asyncio.to_thread(self._book.get, key)
        if kept is None:
            raise ConversationNotFound
        return kept

    def has_expired(self, kept: Kept) -> bool:
        if kept.expires > self._clock():
            return False
        if kept.session is None:
            # a successor that never began
            return kept.primer is not None
        # whoever is still at work has not been forgotten
        return not self.busy(kept.session)

    def needs_room(self, kept: Kept) -> bool:
        """Its window is full, and nobody works on it."""
        return kept.full and kept.session is not None and not self.busy(kept.session)

    def busy(self, session_id: str) -> bool:
        live = self._registry.get(session_id)
        return live is not None and live.busy

    async def is_there(self, session_id: str) -> bool:
        live = self._registry.get(session_id)
        if live is not None and not live.over:
            return True
        return await self._sessions.exists(session_id)

    def state(self, kept: Kept) -> WorkState:
        begun = kept.session is not None or kept.primer is not None
        if begun and not self.has_expired(kept):
            return "active"
        return "expired" if kept.expires <= self._clock() else "reset"

    def shown(self, kept: Kept) -> WorkConversation:
        return WorkConversation(
            key=kept.key,
            state=self.state(kept),
            session_id=kept.session,
            project=kept.project,
            workdir=kept.workdir,
            system_prompt=kept.prompt,
            metadata=kept.metadata,
            created=iso(kept.created),
            updated=iso(kept.updated),
            expires=iso(kept.expires),
            messages=self._sessions.messages(kept.session) if kept.session else None,
            tokens=kept.tokens,
            dispatches=kept.dispatches,
        )

    # ---- parting from a session ----

    async def leave(self, kept: Kept, why: Why) -> None:
        """And end what runs of it."""
        old = kept.session
        await self.part(kept, why, None)
        if old is not None:
            await self._registry.close_session(old)

    async def part(self, kept: Kept, why: Why, details: str | None) -> None:
        """The next dispatch begins another one."""
        old, kept.session, kept.primer = kept.session, None, None
        kept.tokens, kept.full, kept.done = 0, False, 0
        if old is None:
            await asyncio.to_thread(self._book.put, kept)
            return
        now = self._clock()
        await asyncio.to_thread(self._book.move_on, kept, old, why, now, details)
        if why in ("expired", "reset"):
            self.tell(kept, why, "", old)

    # ---- telling ----

    async def note(self, kept: Kept, what: What, details: str, session_id: str) -> None:
        """What was done to it by itself stands in the book, and everybody hears of it."""
        await asyncio.to_thread(self._book.note, kept.key, what, details, self._clock())
        self.tell(kept, what, details, session_id)

    def tell(self, kept: Kept, what: What, details: str, session_id: str | None = None) -> None:
        self._bus.publish(
            ConversationUpdated(
                session_id=session_id or kept.session or "",
                key=kept.key,
                what=what,
                details=details,
            )
        )
