"""Which session belongs to which work item."""

from __future__ import annotations

from collections.abc import Mapping

from claudekeeper.contract.sessions import WorkItem
from claudekeeper.core.signals import Signal


class SessionOwners:
    """The sessions that are or were the conversation of an item."""

    def __init__(self) -> None:
        self._items: dict[str, WorkItem] = {}
        # the id of a session that became an item's, or is one no longer
        self.changed: Signal[str] = Signal()

    def item_of(self, session_id: str) -> WorkItem | None:
        return self._items.get(session_id)

    def belongs_to_item(self, session_id: str) -> bool:
        """Whether the session is an item's: no other prompt may be routed to it."""
        return session_id in self._items

    def set_owners(self, sessions: Mapping[str, WorkItem | None]) -> None:
        """Sets the item of each session; None is nobody's."""
        for session_id, item in sessions.items():
            before = self._items.pop(session_id, None)
            if item is not None:
                self._items[session_id] = item
            if before != item:
                self.changed.emit(session_id)
