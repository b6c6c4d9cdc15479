"""The thread of an item of work: whether it lives, how it looks, and parting from its session."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping

from claudekeeper.features.conversation_book import Book, Kept
from claudekeeper.features.succession import Sessions
from claudekeeper.live.bus import Bus
from claudekeeper.live.registry import Registry
from claudekeeper.model.ceilings import Ceilings, lowest, raised
from claudekeeper.model.dispatch import (
    ConversationSettings,
    ConversationUpdated,
    What,
    Why,
    WorkConversation,
    WorkState,
)
from claudekeeper.model.errors import ConversationNotFound, ProjectNeeded
from claudekeeper.model.sessions import WorkItem, iso_of


class Threads:
    """Asked, and changed, by whoever has the key to himself."""

    def __init__(
        self,
        book: Book,
        registry: Registry,
        bus: Bus,
        sessions: Sessions,
        settings: ConversationSettings,
        clock: Callable[[], float],
    ) -> None:
        self._book = book
        self._registry = registry
        self._bus = bus
        self._sessions = sessions
        self._settings = settings
        self._clock = clock
        self._items: dict[str, WorkItem] = {}
        # what happened since the start
        self.tally: Counter[str] = Counter()
        # who shows sessions: called with each that is an item's now, or no longer
        self.owner_changed: Callable[[str], None] = lambda _: None

    # ---- whose a session is ----

    def belongs(self, sessions: Mapping[str, WorkItem | None]) -> None:
        """Whose they are from now on; None is nobody's."""
        for session_id, item in sessions.items():
            if item is not None:
                before, self._items[session_id] = self._items.get(session_id), item
            else:
                before = self._items.pop(session_id, None)
            if before != item:
                self.owner_changed(session_id)

    def owns(self, session_id: str) -> bool:
        """Whether a session is, or was, the thread of an item: nobody else's words belong there."""
        return session_id in self._items

    def item_of(self, session_id: str) -> WorkItem | None:
        """The item whose thread a session is, or was."""
        return self._items.get(session_id)

    # ---- asking ----

    async def item(self, key: str, project: str | None) -> WorkItem:
        """Which item is meant: "" is the project of those without one, None the one there is."""
        if project is not None:
            return WorkItem(key, project or None)
        projects = await asyncio.to_thread(self._book.projects_of, key)
        if len(projects) > 1:
            names = ", ".join(each or '"", without a project' for each in projects)
            raise ProjectNeeded(
                f"The key {key!r} stands in several projects ({names}): say which with 'project'.",
                choices=tuple(each or "" for each in projects),
            )
        return WorkItem(key, projects[0] if projects else None)

    async def known(self, item: WorkItem) -> Kept:
        kept = await asyncio.to_thread(self._book.get, item)
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
        if kept.ended is not None:
            return "ended"
        begun = kept.session is not None or kept.primer is not None
        if begun and not self.has_expired(kept):
            return "active"
        return "expired" if kept.expires <= self._clock() else "reset"

    def ceilings(self, kept: Kept) -> Ceilings:
        """Those that hold for it, with what a person allowed."""
        return raised(self.given_ceilings(kept), kept.allowed)

    def given_ceilings(self, kept: Kept) -> Ceilings:
        """The lower ones of config.json's and those that were asked for."""
        return lowest(self._settings.of(kept.project).ceilings, kept.ceilings)

    def shown(self, kept: Kept) -> WorkConversation:
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
            messages=self._sessions.messages(kept.session) if kept.session else None,
            tokens=kept.tokens,
            last_window=kept.window,
            dispatches=kept.dispatches,
            cost_usd=round(kept.cost, 6),
            ceilings=self.ceilings(kept),
            attention_id=kept.question.id if kept.question is not None else None,
        )

    # ---- parting from a session ----

    async def leave(self, kept: Kept, why: Why) -> None:
        """And end what runs of it."""
        old = kept.session
        self.tally["expirations"] += why == "expired"
        await self.part(kept, why, None)
        if old is not None:
            await self._registry.close_session(old)

    async def part(self, kept: Kept, why: Why, details: str | None) -> None:
        """The next dispatch begins another one."""
        old, kept.session, kept.primer = kept.session, None, None
        kept.window, kept.full, kept.done = 0, False, 0
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
        await asyncio.to_thread(self._book.note, kept.item, what, details, self._clock())
        self.tell(kept, what, details, session_id)

    def tell(self, kept: Kept, what: What, details: str, session_id: str | None = None) -> None:
        self._bus.publish(
            ConversationUpdated(
                session_id=session_id or kept.session or "",
                key=kept.key,
                project=kept.project,
                what=what,
                details=details,
            )
        )
