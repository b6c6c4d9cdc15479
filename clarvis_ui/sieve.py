"""What the socket tells a browser where roots are set: nothing of the sessions outside them."""

from __future__ import annotations

import msgspec

from .failures import ClarvisError
from .visible import Question, Visible
from .whereabouts import Row, Where

# these are about the socket itself; all else is about a session, and says which
OF_THE_SOCKET = frozenset({"hello", "subscribed", "unsubscribed", "resync", "pong", "error"})


class Frame(msgspec.Struct, rename="camel"):
    """As much of an event as decides whether it is told."""

    type: str
    session_id: str | None = None
    session: Row | None = None
    attention: Question | None = None


class Sieve:
    def __init__(self, visible: Visible) -> None:
        self._visible = visible
        self._decoder = msgspec.json.Decoder(Frame)

    async def passes(self, raw: bytes) -> bool:
        """Unknown is hidden: a frame that cannot be read, a session that nobody knows yet."""
        try:
            frame = self._decoder.decode(raw)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return False
        if frame.session_id is None:
            return frame.type in OF_THE_SOCKET
        if frame.attention is not None:
            self._visible.remember(frame.attention)
        try:
            return await self._where(frame.session_id, frame) is Where.INSIDE
        except ClarvisError:
            return False  # the keeper cannot be asked: the line will end by itself

    async def _where(self, session_id: str, frame: Frame) -> Where:
        whereabouts = self._visible.whereabouts
        if frame.session is not None and frame.session.workdir is not None:
            return await whereabouts.learn(session_id, frame.session.workdir)
        return await whereabouts.of(session_id)
