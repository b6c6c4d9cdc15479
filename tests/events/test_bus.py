"""Positions: what was missed is exactly what is replayed, or an honest no."""

from __future__ import annotations

import msgspec
import pytest

from claudekeeper.contract.events import TurnStarted
from claudekeeper.events.bus import EventBus, PublishedEvent

ONE = "00000000-0000-4000-8000-000000000001"


class Listener:
    def __init__(self) -> None:
        self.events: list[PublishedEvent] = []

    def handle_event(self, event: PublishedEvent) -> None:
        self.events.append(event)


def tell(bus: EventBus, times: int) -> None:
    for number in range(times):
        bus.publish(TurnStarted(session_id=ONE, uuid=str(number)))


def seqs(events: list[PublishedEvent] | None) -> list[int] | None:
    return None if events is None else [each.seq for each in events]


def test_an_event_carries_its_own_position() -> None:
    bus = EventBus()
    listener = Listener()
    bus.subscribe(listener)
    tell(bus, 2)
    decoded = [msgspec.json.decode(each.payload) for each in listener.events]
    assert [event["position"] for event in decoded] == [f"{bus.epoch}:1", f"{bus.epoch}:2"]
    assert decoded[0] == {
        "type": "turn/started",
        "position": f"{bus.epoch}:1",
        "sessionId": ONE,
        "uuid": "0",
    }


def test_exactly_what_was_missed_is_replayed() -> None:
    bus = EventBus()
    tell(bus, 3)
    position = bus.position
    tell(bus, 100)
    assert seqs(bus.replay_since(position)) == list(range(4, 104))
    assert seqs(bus.replay_since(bus.position)) == []


def test_nothing_was_missed_before_the_first_event() -> None:
    bus = EventBus()
    assert seqs(bus.replay_since(bus.position)) == []


@pytest.mark.parametrize("position", ["", ":", "other:1", "{epoch}:-1", "{epoch}:9", "{epoch}:x"])
def test_a_position_that_is_not_ours_is_unknown(position: str) -> None:
    bus = EventBus()
    tell(bus, 3)
    assert bus.replay_since(position.format(epoch=bus.epoch)) is None


def test_a_position_beyond_the_memory_is_unknown() -> None:
    bus = EventBus(most_events=10)
    tell(bus, 5)
    forgotten, oldest = f"{bus.epoch}:9", f"{bus.epoch}:10"
    tell(bus, 15)
    assert bus.replay_since(forgotten) is None
    assert seqs(bus.replay_since(oldest)) == list(range(11, 21))


def test_memory_is_bounded_in_bytes_too() -> None:
    bus = EventBus(most_bytes=1_000)
    tell(bus, 100)
    missed = bus.replay_since(f"{bus.epoch}:99")
    assert seqs(missed) == [100]
    assert bus.replay_since(f"{bus.epoch}:1") is None


def test_who_leaves_hears_no_more() -> None:
    bus = EventBus()
    listener = Listener()
    bus.subscribe(listener)
    tell(bus, 1)
    bus.unsubscribe(listener)
    tell(bus, 1)
    assert seqs(listener.events) == [1]


def test_what_is_kept_to_be_said_again_is_said_as_it_is_by_then() -> None:
    bus = EventBus()
    listener = Listener()
    bus.subscribe(listener)
    latest: TurnStarted | None = TurnStarted(session_id=ONE, uuid="first")

    def again(session_id: str) -> TurnStarted | None:
        assert session_id == ONE
        return latest

    position = bus.position
    bus.publish(TurnStarted(session_id=ONE, uuid="first"), again)
    bus.publish(TurnStarted(session_id=ONE, uuid="second"))
    latest = TurnStarted(session_id=ONE, uuid="third")
    missed = bus.replay_since(position) or []
    assert [msgspec.json.decode(event.payload)["uuid"] for event in missed] == ["third", "second"]
    assert [msgspec.json.decode(event.payload)["position"] for event in missed] == [
        f"{bus.epoch}:1",
        f"{bus.epoch}:2",
    ]
    # everybody who was there heard it as it was
    assert seqs(listener.events) == [1, 2]
    latest = None
    assert seqs(bus.replay_since(position)) == [2]


def test_thousands_that_are_said_again_push_nothing_else_out() -> None:
    bus = EventBus(most_bytes=100_000)
    position = bus.position
    bus.publish(TurnStarted(session_id=ONE, uuid="told in full"))
    for _ in range(400):
        bus.publish(TurnStarted(session_id=ONE, uuid="x" * 1000), lambda _: None)
    assert seqs(bus.replay_since(position)) == [1]
