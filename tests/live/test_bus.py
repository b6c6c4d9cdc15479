"""Positions: what was missed is exactly what is replayed, or an honest no."""

from __future__ import annotations

import msgspec
import pytest

from claudekeeper.live.bus import Bus, Told
from claudekeeper.model.events import TurnStarted

ONE = "00000000-0000-4000-8000-000000000001"


class Listener:
    def __init__(self) -> None:
        self.heard: list[Told] = []

    def hear(self, told: Told) -> None:
        self.heard.append(told)


def tell(bus: Bus, times: int) -> None:
    for number in range(times):
        bus.publish(TurnStarted(session_id=ONE, uuid=str(number)))


def seqs(told: list[Told] | None) -> list[int] | None:
    return None if told is None else [each.seq for each in told]


def test_an_event_carries_its_own_position() -> None:
    bus = Bus()
    listener = Listener()
    bus.join(listener)
    tell(bus, 2)
    decoded = [msgspec.json.decode(told.line) for told in listener.heard]
    assert [event["position"] for event in decoded] == [f"{bus.epoch}:1", f"{bus.epoch}:2"]
    assert decoded[0] == {
        "type": "turn/started",
        "position": f"{bus.epoch}:1",
        "sessionId": ONE,
        "uuid": "0",
    }


def test_exactly_what_was_missed_is_replayed() -> None:
    bus = Bus()
    tell(bus, 3)
    position = bus.position
    tell(bus, 100)
    assert seqs(bus.since(position)) == list(range(4, 104))
    assert seqs(bus.since(bus.position)) == []


def test_nothing_was_missed_before_the_first_event() -> None:
    bus = Bus()
    assert seqs(bus.since(bus.position)) == []


@pytest.mark.parametrize("position", ["", ":", "other:1", "{epoch}:-1", "{epoch}:9", "{epoch}:x"])
def test_a_position_that_is_not_ours_is_unknown(position: str) -> None:
    bus = Bus()
    tell(bus, 3)
    assert bus.since(position.format(epoch=bus.epoch)) is None


def test_a_position_beyond_the_memory_is_unknown() -> None:
    bus = Bus(most_events=10)
    tell(bus, 5)
    forgotten, kept = f"{bus.epoch}:9", f"{bus.epoch}:10"
    tell(bus, 15)
    assert bus.since(forgotten) is None
    assert seqs(bus.since(kept)) == list(range(11, 21))


def test_memory_is_bounded_in_bytes_too() -> None:
    bus = Bus(most_bytes=1_000)
    tell(bus, 100)
    missed = bus.since(f"{bus.epoch}:99")
    assert seqs(missed) == [100]
    assert bus.since(f"{bus.epoch}:1") is None


def test_who_leaves_hears_no_more() -> None:
    bus = Bus()
    listener = Listener()
    bus.join(listener)
    tell(bus, 1)
    bus.leave(listener)
    tell(bus, 1)
    assert seqs(listener.heard) == [1]


def test_what_was_not_kept_is_told_and_has_to_be_read_anew() -> None:
    bus = Bus()
    listener = Listener()
    bus.join(listener)
    tell(bus, 3)
    position = bus.position
    bus.keep(False)
    tell(bus, 2)
    unkept = bus.position
    bus.keep(True)
    tell(bus, 4)
    assert seqs(listener.heard) == list(range(1, 10))
    assert bus.since(position) is None
    assert seqs(bus.since(unkept)) == [6, 7, 8, 9]
