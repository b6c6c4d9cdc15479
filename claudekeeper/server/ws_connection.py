"""WebSocket connections: an event is encoded once for all of them, and none waits for another."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable

from claudekeeper.events.bus import EventBus, PublishedEvent

# a client with more unsent bytes does not read
MAX_UNSENT_BYTES = 4 * 1024 * 1024
# seconds for such a client to read what is under way and the close frame
CLOSE_SECONDS = 20.0
TOO_SLOW = 4008

_TEXT_OPCODE = 0x81
_CLOSE_OPCODE = 0x88


def encode_frame(payload: bytes, opcode: int = _TEXT_OPCODE) -> bytes:
    """A whole WebSocket frame. A server does not mask its frames, so all connections share it."""
    size = len(payload)
    if size < 126:
        head = struct.pack("!BB", opcode, size)
    elif size < 65536:
        head = struct.pack("!BBH", opcode, 126, size)
    else:
        head = struct.pack("!BBQ", opcode, 127, size)
    return head + payload


def encode_close_frame(code: int, reason: bytes = b"") -> bytes:
    return encode_frame(struct.pack("!H", code) + reason, _CLOSE_OPCODE)


class WsConnection:
    """The sending half of a connection. Frames are joined and written to the transport."""

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
        # how far one large frame may exceed the limit of unsent bytes
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

    def handle_event(self, published: PublishedEvent) -> None:
        if self._all_sessions or published.session_id in self._session_ids:
            if published.frame is None:
                published.frame = encode_frame(published.payload)
            self.send_frame(published.frame)

    def send(self, payload: bytes) -> None:
        self.send_frame(encode_frame(payload))

    def send_frame(self, frame: bytes) -> None:
        if self.closed:
            return
        unsent = self._pending_bytes + self._transport.get_write_buffer_size()
        if unsent <= MAX_UNSENT_BYTES:
            self._allowance = max(unsent + len(frame) - MAX_UNSENT_BYTES, 0)
        elif unsent > MAX_UNSENT_BYTES + self._allowance:
            self.close(TOO_SLOW, b"too slow")
            self._on_slow()
            return
        self._pending_frames.append(frame)
        self._pending_bytes += len(frame)
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
        """Sends the close frame; a client that does not read it in time is disconnected."""
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
    """The open connections."""

    def __init__(self) -> None:
        self._connections: dict[WsConnection, None] = {}
        # how many were closed because they did not read
        self.slow_count = 0

    def __len__(self) -> int:
        return len(self._connections)

    def count_slow(self) -> None:
        self.slow_count += 1

    def add(self, connection: WsConnection) -> None:
        self._connections[connection] = None

    def remove(self, connection: WsConnection) -> None:
        connection.detach()
        self._connections.pop(connection, None)

    def close_all(self, code: int, reason: bytes = b"") -> None:
        for connection in list(self._connections):
            connection.close(code, reason)
