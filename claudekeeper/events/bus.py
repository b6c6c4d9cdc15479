"""Every event, once: numbered, written down once for all, kept for those who come back."""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Callable, Iterator
from typing import Protocol

import msgspec

from claudekeeper.contract.events import Event

# what is kept for those who were away: whichever bound is met first
MOST_EVENTS = 50_000
MOST_BYTES = 4 * 1024 * 1024
# what keeping an event takes beside its bytes
OVERHEAD_BYTES = 200


# what there is to say about a session now
Refresh = Callable[[str], Event | None]


class PublishedEvent:
    """One event as every listener gets it: typed, and encoded once for all.

    `event` is there while it is published; a replay has its bytes alone. `frame` belongs to
    whoever sends it over a socket.
    """

    __slots__ = ("event", "frame", "payload", "refresh", "seq", "session_id")

    def __init__(
        self,
        seq: int,
        session_id: str,
        payload: bytes,
        event: Event | None = None,
        refresh: Refresh | None = None,
    ) -> None:
        self.seq = seq
        self.session_id = session_id
        self.payload = payload
        self.event = event
        self.frame: bytes | None = None
        # makes it anew for a replay, where its bytes are not kept
        self.refresh = refresh

    @property
    def size(self) -> int:
        """Bytes that keeping it takes."""
        return OVERHEAD_BYTES if self.refresh is not None else len(self.payload) + OVERHEAD_BYTES


class EventListener(Protocol):
    def handle_event(self, published: PublishedEvent) -> None:
        """Takes an event, at once and without waiting for anybody."""


class EventBus:
    """Fan-out and memory of the events of one run of the keeper."""

    def __init__(self, most_events: int = MOST_EVENTS, most_bytes: int = MOST_BYTES) -> None:
        self.epoch = secrets.token_hex(4)
        self.seq = 0
        self._most_events = most_events
        self._most_bytes = most_bytes
        self._replay: deque[PublishedEvent] = deque()
        self._replay_bytes = 0
        # replaced, never changed: who comes or goes while an event is published is not in its way
        self._listeners: tuple[EventListener, ...] = ()
        self._encode = msgspec.json.Encoder().encode
        self._position_prefix = b'{"position":"%b:%%d",' % self.epoch.encode()

    @property
    def position(self) -> str:
        return f"{self.epoch}:{self.seq}"

    def publish(self, event: Event, again: Refresh | None = None) -> int:
        """Tell everybody; returns the event's number.

        With `again`, a replay has what is true by then: thousands of such
        events take no room.
        """
        self.seq += 1
        published = PublishedEvent(self.seq, event.session_id, self.encode(event), event, again)
        self._add_to_replay(published)
        for listener in self._listeners:
            listener.handle_event(published)
        # replays are rare: thousands of typed events and frames are not kept for them
        published.event = published.frame = None
        if again is not None:
            published.payload = b""
        return published.seq

    def encode(self, event: Event, seq: int | None = None) -> bytes:
        """The event in writing, at the position of now or another."""
        return self._position_prefix % (self.seq if seq is None else seq) + self._encode(event)[1:]

    def subscribe(self, listener: EventListener) -> None:
        if listener not in self._listeners:
            self._listeners = (*self._listeners, listener)

    def unsubscribe(self, listener: EventListener) -> None:
        self._listeners = tuple(other for other in self._listeners if other is not listener)

    def replay_since(self, position: str) -> list[PublishedEvent] | None:
        """What was published after that; None if that is no longer (or was never) known."""
        epoch, _, digits = position.partition(":")
        if epoch != self.epoch or not (digits.isascii() and digits.isdigit()):
            return None
        seq = int(digits[:20])
        oldest = self._replay[0].seq if self._replay else self.seq + 1
        if seq > self.seq or seq < oldest - 1:
            return None
        return [
            published
            for each in self._events_after(seq)
            if (published := self._with_payload(each)) is not None
        ]

    def _events_after(self, seq: int) -> Iterator[PublishedEvent]:
        missed = self.seq - seq
        start = len(self._replay) - missed
        for index in range(start, len(self._replay)):
            yield self._replay[index]

    def _with_payload(self, published: PublishedEvent) -> PublishedEvent | None:
        if published.refresh is None:
            return published
        event = published.refresh(published.session_id)
        return (
            PublishedEvent(published.seq, published.session_id, self.encode(event, published.seq))
            if event
            else None
        )

    def _add_to_replay(self, published: PublishedEvent) -> None:
        replay = self._replay
        replay.append(published)
        self._replay_bytes += published.size
        # the newest always stays, however large
        while (self._replay_bytes > self._most_bytes or len(replay) > self._most_events) and len(
            replay
        ) > 1:
            self._replay_bytes -= replay.popleft().size
