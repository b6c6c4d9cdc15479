"""Sockets that hear the bus: one writing of an event serves all, and nobody waits for anybody."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable

from claudekeeper.live.bus import Bus, Told

# unsent bytes at which a client counts as one that does not read
MOST_UNSENT = 4 * 1024 * 1024
# seconds that such a client has to take what is under way, and the word that it is cut off
LAST_WORDS = 20.0
TOO_SLOW = 4008

_TEXT = 0x81
_CLOSE = 0x88


def frame(payload: bytes, kind: int = _TEXT) -> bytes:
    """A whole WebSocket frame; a server's are not masked, so all sockets can share it."""
    size = len(payload)
    if size < 126:
        head = struct.pack("!BB", kind, size)
    elif size < 65536:
        head = struct.pack("!BBH", kind, 126, size)
    else:
        head = struct.pack("!BBQ", kind, 127, size)
    return head + payload


def close_frame(code: int, reason: bytes = b"") -> bytes:
    return frame(struct.pack("!H", code) + reason, _CLOSE)


class Socket:
    """The sending half of one connection. Frames go straight to the transport, joined."""

    def __init__(
        self,
        transport: asyncio.WriteTransport,
        bus: Bus,
        on_slow: Callable[[], None] = lambda: None,
    ) -> None:
        self._transport = transport
        self._bus = bus
        self._on_slow = on_slow
        self._everything = False
        self._sessions: set[str] = set()
        self._pending: list[bytes] = []
        self._size = 0
        # room for one more frame, however large, than a slow client may leave unsent
        self._allowance = 0
        self._scheduled = False
        self.closed = False

    @property
    def subscriptions(self) -> int:
        return len(self._sessions)

    def subscribe(self, sessions: list[str]) -> None:
        self._everything = self._everything or "*" in sessions
        self._sessions.update(sessions)
        self._bus.join(self)

    def unsubscribe(self, sessions: list[str]) -> None:
        if "*" in sessions:
            self._everything = False
            self._sessions.clear()
        self._sessions.difference_update(sessions)

    def wants(self, session_id: str) -> bool:
        return self._everything or session_id in self._sessions

    def hear(self, told: Told) -> None:
        if self._everything or told.session_id in self._sessions:
            if told.frame is None:
                told.frame = frame(told.line)
            self.put(told.frame)

    def say(self, payload: bytes) -> None:
        self.put(frame(payload))

    def put(self, whole: bytes) -> None:
        if self.closed:
            return
        unsent = self._size + self._transport.get_write_buffer_size()
        if unsent <= MOST_UNSENT:
            self._allowance = max(unsent + len(whole) - MOST_UNSENT, 0)
        elif unsent > MOST_UNSENT + self._allowance:
            self.cut_off(TOO_SLOW, b"too slow")
            self._on_slow()
            return
        self._pending.append(whole)
        self._size += len(whole)
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self.flush)

    def flush(self) -> None:
        self._scheduled = False
        if self._pending and not self.closed and not self._transport.is_closing():
            self._transport.write(b"".join(self._pending))
        self._pending.clear()
        self._size = 0

    def cut_off(self, code: int, reason: bytes = b"") -> None:
        """The last frame; who does not take it in time is left."""
        if self.closed:
            return
        self.flush()
        self.leave()
        if not self._transport.is_closing():
            self._transport.write(close_frame(code, reason))
            asyncio.get_running_loop().call_later(LAST_WORDS, self._transport.abort)

    def leave(self) -> None:
        self.closed = True
        self._bus.leave(self)


class Sockets:
    """All that are open."""

    def __init__(self) -> None:
        self._open: dict[Socket, None] = {}
        # how many did not read, and were cut off
        self.slow = 0

    def __len__(self) -> int:
        return len(self._open)

    def count_slow(self) -> None:
        self.slow += 1

    def add(self, socket: Socket) -> None:
        self._open[socket] = None

    def remove(self, socket: Socket) -> None:
        socket.leave()
        self._open.pop(socket, None)

    def cut_off(self, code: int, reason: bytes = b"") -> None:
        for socket in list(self._open):
            socket.cut_off(code, reason)
