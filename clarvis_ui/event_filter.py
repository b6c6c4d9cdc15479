"""The filter of WebSocket events: none of sessions outside the allowed roots."""

from __future__ import annotations

import msgspec

from claudekeeper.net.errors import ApiError

from .root_filter import AttentionFields, RootFilter
from .root_membership import ListedSession, SessionRoots

# events about the connection itself; every other event names its session
SOCKET_EVENTS = frozenset({"hello", "subscribed", "unsubscribed", "resync", "pong", "error"})


class EventFrame(msgspec.Struct, rename="camel"):
    """The fields of an event that the filter needs."""

    type: str
    session_id: str | None = None
    session: ListedSession | None = None
    attention: AttentionFields | None = None


class EventFilter:
    def __init__(self, root_filter: RootFilter) -> None:
        self._root_filter = root_filter
        self._decoder = msgspec.json.Decoder(EventFrame)

    async def passes(self, raw: bytes) -> bool:
        """Whether a frame may be sent; not one that cannot be read, or of an unknown session."""
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
            return False  # the keeper does not answer, so the connection is about to end

    async def _membership(self, session_id: str, frame: EventFrame) -> SessionRoots:
        membership = self._root_filter.membership
        if frame.session is not None and frame.session.workdir is not None:
            return await membership.update(session_id, frame.session.workdir)
        return await membership.find(session_id)
