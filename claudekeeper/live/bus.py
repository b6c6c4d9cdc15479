"""Every event, once: numbered, written down once for all, kept for those who come back."""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Callable, Iterator
from typing import Protocol

import msgspec

from claudekeeper.model.events import Event

# what is kept for those who were away: whichever bound is met first
MOST_EVENTS = 50_000
MOST_BYTES = 4 * 1024 * 1024
# what keeping an event takes beside its bytes
OVERHEAD = 200


# what there is to say about a session now
Again = Callable[[str], Event | None]


class Told:
    """One event as everybody gets it. `frame` belongs to whoever sends it over a socket."""

    __slots__ = ("again", "frame", "line", "seq", "session_id")

    def __init__(self, seq: int, session_id: str, line: bytes, again: Again | None = None) -> None:
        self.seq = seq
        self.session_id = session_id
        self.line = line
        self.frame: bytes | None = None
        # who says it again, where it is not kept in writing
        self.again = again

    @property
    def size(self) -> int:
        """Bytes that keeping it takes."""
        return OVERHEAD if self.again is not None else len(self.line) + OVERHEAD


class Listener(Protocol):
    def hear(self, told: Told) -> None:
        """Takes an event, at once and without waiting for anybody."""


class Bus:
    """Fan-out and memory of the events of one run of the keeper."""

    def __init__(self, most_events: int = MOST_EVENTS, most_bytes: int = MOST_BYTES) -> None:
        self.epoch = secrets.token_hex(4)
        self.seq = 0
        self._most_events = most_events
        self._most_bytes = most_bytes
        self._kept: deque[Told] = deque()
        self._bytes = 0
        # replaced, never changed: who comes or goes while an event is told is not in its way
        self._listeners: tuple[Listener, ...] = ()
        self._encode = msgspec.json.Encoder().encode
        self._head = b'{"position":"%b:%%d",' % self.epoch.encode()

    @property
    def position(self) -> str:
        return f"{self.epoch}:{self.seq}"

    def publish(self, event: Event, again: Again | None = None) -> int:
        """Tell everybody; returns the event's number.

        With `again`, whoever comes back for it is told what is so by then: thousands of such
        events take no room.
        """
        self.seq += 1
        told = Told(self.seq, event.session_id, self.line(event), again)
        self._keep(told)
        for listener in self._listeners:
            listener.hear(told)
        # who comes back for it later is served seldom: thousands of frames are not kept for that
        told.frame = None
        if again is not None:
            told.line = b""
        return told.seq

    def line(self, event: Event, seq: int | None = None) -> bytes:
        """The event in writing, at the position of now or another."""
        return self._head % (self.seq if seq is None else seq) + self._encode(event)[1:]

    def join(self, listener: Listener) -> None:
        if listener not in self._listeners:
            self._listeners = (*self._listeners, listener)

    def leave(self, listener: Listener) -> None:
        self._listeners = tuple(other for other in self._listeners if other is not listener)

    def since(self, position: str) -> list[Told] | None:
        """What was told after that; None if that is no longer (or was never) known."""
        epoch, _, digits = position.partition(":")
        if epoch != self.epoch or not (digits.isascii() and digits.isdigit()):
            return None
        seq = int(digits[:20])
        oldest = self._kept[0].seq if self._kept else self.seq + 1
        if seq > self.seq or seq < oldest - 1:
            return None
        return [told for each in self._after(seq) if (told := self._written(each)) is not None]

    def _after(self, seq: int) -> Iterator[Told]:
        missed = self.seq - seq
        start = len(self._kept) - missed
        for index in range(start, len(self._kept)):
            yield self._kept[index]

    def _written(self, told: Told) -> Told | None:
        if told.again is None:
            return told
        event = told.again(told.session_id)
        return Told(told.seq, told.session_id, self.line(event, told.seq)) if event else None

    def _keep(self, told: Told) -> None:
        kept = self._kept
        kept.append(told)
        self._bytes += told.size
        # the newest always stays, however large
        while (self._bytes > self._most_bytes or len(kept) > self._most_events) and len(kept) > 1:
            self._bytes -= kept.popleft().size
