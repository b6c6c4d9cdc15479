"""Every event, once: numbered, written down once for all, kept for those who come back."""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Iterator
from typing import Protocol

import msgspec

from claudekeeper.model.events import Event

# what is kept for those who were away: whichever bound is met first
MOST_EVENTS = 50_000
MOST_BYTES = 4 * 1024 * 1024
# what keeping an event takes beside its bytes
OVERHEAD = 200


class Told:
    """One event as everybody gets it. `frame` belongs to whoever sends it over a socket."""

    __slots__ = ("frame", "line", "seq", "session_id")

    def __init__(self, seq: int, session_id: str, line: bytes) -> None:
        self.seq = seq
        self.session_id = session_id
        self.line = line
        self.frame: bytes | None = None


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
        self._keeping = True
        # replaced, never changed: who comes or goes while an event is told is not in its way
        self._listeners: tuple[Listener, ...] = ()
        self._encode = msgspec.json.Encoder().encode
        self._head = b'{"position":"%b:%%d",' % self.epoch.encode()

    @property
    def position(self) -> str:
        return f"{self.epoch}:{self.seq}"

    def publish(self, event: Event) -> int:
        """Tell everybody; returns the event's number."""
        self.seq += 1
        told = Told(self.seq, event.session_id, self.line(event))
        if self._keeping:
            self._keep(told)
        for listener in self._listeners:
            listener.hear(told)
        # who comes back for it later is served seldom: thousands of frames are not kept for that
        told.frame = None
        return self.seq

    def line(self, event: Event) -> bytes:
        """The event in writing, at the position of now."""
        return self._head % self.seq + self._encode(event)[1:]

    def join(self, listener: Listener) -> None:
        if listener not in self._listeners:
            self._listeners = (*self._listeners, listener)

    def leave(self, listener: Listener) -> None:
        self._listeners = tuple(other for other in self._listeners if other is not listener)

    def keep(self, keeping: bool) -> None:
        """Whether what is told is kept from now on: else whoever comes back for it reads anew."""
        self._keeping = keeping
        if not keeping:
            self._kept.clear()
            self._bytes = 0

    def since(self, position: str) -> list[Told] | None:
        """What was told after that; None if that is no longer (or was never) known."""
        epoch, _, digits = position.partition(":")
        if epoch != self.epoch or not (digits.isascii() and digits.isdigit()):
            return None
        seq = int(digits[:20])
        oldest = self._kept[0].seq if self._kept else self.seq + 1
        if seq > self.seq or seq < oldest - 1:
            return None
        return list(self._after(seq))

    def _after(self, seq: int) -> Iterator[Told]:
        missed = self.seq - seq
        start = len(self._kept) - missed
        for index in range(start, len(self._kept)):
            yield self._kept[index]

    def _keep(self, told: Told) -> None:
        kept = self._kept
        kept.append(told)
        self._bytes += len(told.line) + OVERHEAD
        # the newest always stays, however large
        while (self._bytes > self._most_bytes or len(kept) > self._most_events) and len(kept) > 1:
            self._bytes -= len(kept.popleft().line) + OVERHEAD
