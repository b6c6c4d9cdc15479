"""Sockets that hear the bus: one writing of an event serves all, and nobody waits for anybody."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable

from claudekeeper.events.bus import EventBus, PublishedEvent

# unsent bytes at which a client counts as one that does not read
MOST_UNSENT = 4 * 1024 * 1024
# seconds that such a client has to take what is under way, and the word that it is cut off
CLOSE_SECONDS = 20.0
TOO_SLOW = 4008

_TEXT_OPCODE = 0x81
_CLOSE_OPCODE = 0x88


def encode_frame(payload: bytes, kind: int = _TEXT_OPCODE) -> bytes:
    """A whole WebSocket frame; a server's are not masked, so all sockets can share it."""
    size = len(payload)
    if size < 126:
        head = struct.pack("!BB", kind, size)
    elif size < 65536:
        head = struct.pack("!BBH", kind, 126, size)
    else:
        head = struct.pack("!BBQ", kind, 127, size)
    return head + payload


def encode_close_frame(code: int, reason: bytes = b"") -> bytes:
    return encode_frame(struct.pack("!H", code) + reason, _CLOSE_OPCODE)


class WsConnection:
    """The sending half of one connection. Frames go straight to the transport, joined."""

    def __init__(
        self,
        transport: asyncio.WriteTransport,
        bus: EventBus,
        on_slow: Callable[[], None] = lambda: None,
    ) -> None:
        self._transport = transport
        self._bus = bus
        self._on_slow = on_slow
        self._all_sessions = False
        self._session_ids: set[str] = set()
        self._pending_frames: list[bytes] = []
        self._pending_bytes = 0
        # room for one more frame, however large, than a slow client may leave unsent
        self._allowance = 0
        self._flush_scheduled = False
        self.closed = False

    @property
    def subscription_count(self) -> int:
        return len(self._session_ids)

    def subscribe(self, sessions: list[str]) -> None:
        self._all_sessions = self._all_sessions or "*" in sessions
        self._session_ids.update(sessions)
        self._bus.subscribe(self)

    def unsubscribe(self, sessions: list[str]) -> None:
        if "*" in sessions:
            self._all_sessions = False
            self._session_ids.clear()
        self._session_ids.difference_update(sessions)

    def is_subscribed(self, session_id: str) -> bool:
        return self._all_sessions or session_id in self._session_ids

    def handle_event(self, told: PublishedEvent) -> None:
        if self._all_sessions or told.session_id in self._session_ids:
            if told.frame is None:
                told.frame = encode_frame(told.payload)
            self.send_frame(told.frame)

    def send(self, payload: bytes) -> None:
        self.send_frame(encode_frame(payload))

    def send_frame(self, whole: bytes) -> None:
        if self.closed:
            return
        unsent = self._pending_bytes + self._transport.get_write_buffer_size()
        if unsent <= MOST_UNSENT:
            self._allowance = max(unsent + len(whole) - MOST_UNSENT, 0)
        elif unsent > MOST_UNSENT + self._allowance:
            self.close(TOO_SLOW, b"too slow")
            self._on_slow()
            return
        self._pending_frames.append(whole)
        self._pending_bytes += len(whole)
        if not self._flush_scheduled:
            self._flush_scheduled = True
            asyncio.get_running_loop().call_soon(self.flush)

    def flush(self) -> None:
        self._flush_scheduled = False
        if self._pending_frames and not self.closed and not self._transport.is_closing():
            self._transport.write(b"".join(self._pending_frames))
        self._pending_frames.clear()
        self._pending_bytes = 0

    def close(self, code: int, reason: bytes = b"") -> None:
        """The last frame; who does not take it in time is left."""
        if self.closed:
            return
        self.flush()
        self.detach()
        if not self._transport.is_closing():
            self._transport.write(encode_close_frame(code, reason))
            asyncio.get_running_loop().call_later(CLOSE_SECONDS, self._transport.abort)

    def detach(self) -> None:
        self.closed = True
        self._bus.unsubscribe(self)


class WsConnections:
    """All that are open."""

    def __init__(self) -> None:
        self._connections: dict[WsConnection, None] = {}
        # how many did not read, and were cut off
        self.slow_count = 0

    def __len__(self) -> int:
        return len(self._connections)

    def count_slow(self) -> None:
        self.slow_count += 1

    def add(self, socket: WsConnection) -> None:
        self._connections[socket] = None

    def remove(self, socket: WsConnection) -> None:
        socket.detach()
        self._connections.pop(socket, None)

    def close_all(self, code: int, reason: bytes = b"") -> None:
        for socket in list(self._connections):
            socket.close(code, reason)
