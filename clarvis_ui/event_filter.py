"""What the socket tells a browser where roots are set: nothing of the sessions outside them."""

from __future__ import annotations

import msgspec

from claudekeeper.net.errors import ApiError

from .root_filter import AttentionFields, RootFilter
from .root_membership import ListedSession, SessionRoots

# these are about the socket itself; all else is about a session, and says which
SOCKET_EVENTS = frozenset({"hello", "subscribed", "unsubscribed", "resync", "pong", "error"})


class EventFrame(msgspec.Struct, rename="camel"):
    """As much of an event as decides whether it is told."""

    type: str
    session_id: str | None = None
    session: ListedSession | None = None
    attention: AttentionFields | None = None


class EventFilter:
    def __init__(self, visible: RootFilter) -> None:
        self._root_filter = visible
        self._decoder = msgspec.json.Decoder(EventFrame)

    async def passes(self, raw: bytes) -> bool:
        """Unknown is hidden: a frame that cannot be read, a session that nobody knows yet."""
        try:
            frame = self._decoder.decode(raw)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return False
        if frame.session_id is None:
            return frame.type in SOCKET_EVENTS
        if frame.attention is not None:
            self._root_filter.remember_question(frame.attention)
        try:
            return await self._membership(frame.session_id, frame) is SessionRoots.INSIDE
        except ApiError:
            return False  # the keeper cannot be asked: the line will end by itself

    async def _membership(self, session_id: str, frame: EventFrame) -> SessionRoots:
        whereabouts = self._root_filter.membership
        if frame.session is not None and frame.session.workdir is not None:
            return await whereabouts.update(session_id, frame.session.workdir)
        return await whereabouts.find(session_id)
