"""What was said and what is written, in one order, each once."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from claudekeeper.live.bus import Bus, Told
from claudekeeper.live.ledger import AWAKE, KEPT, MOST_BYTES, Ledger, Ledgers
from claudekeeper.model.messages import Message

ONE = "00000000-0000-4000-8000-000000000001"


class Ear:
    def __init__(self) -> None:
        self.told: list[tuple[str, str | None]] = []

    def hear(self, told: Told) -> None:
        event = msgspec.json.decode(told.line)
        self.told.append((event["message"]["uuid"], event["after"]))


def message(uuid: str) -> Message:
    return Message(uuid, ONE, "assistant", Raw(b"[]"), None, "reply")


def listening() -> tuple[Ledger, Bus, Ear]:
    bus, ear = Bus(), Ear()
    bus.join(ear)
    return Ledger(ONE, bus), bus, ear


def uuids(messages: list[Message]) -> list[str]:
    return [each.uuid for each in messages]


def test_what_was_said_is_not_told_again_when_it_is_written() -> None:
    ledger, _, ear = listening()
    ledger.tell_said(message("a"))
    ledger.tell_written(message("a"))
    assert ear.told == [("a", None)]
    assert ledger.unwritten == []


def test_a_line_that_nobody_said_is_told_in_its_place() -> None:
    ledger, _, ear = listening()
    ledger.tell_written(message("prompt"))
    ledger.tell_said(message("reply"))
    ledger.tell_written(message("retry"))
    ledger.tell_written(message("reply"))
    assert ear.told == [("prompt", None), ("reply", None), ("retry", "prompt")]


def test_a_snapshot_has_what_is_not_written_yet() -> None:
    ledger, bus, _ = listening()
    ledger.tell_said(message("a"))
    mark, waiting = bus.seq, ledger.unwritten
    ledger.tell_written(message("a"))
    ledger.tell_said(message("b"))
    assert uuids(ledger.merge([], waiting, mark)) == ["a", "b"]
    assert uuids(ledger.merge([message("a")], waiting, mark)) == ["a", "b"]
    assert uuids(ledger.merge([message("a"), message("b")], waiting, mark)) == ["a", "b"]


def test_a_snapshot_puts_a_late_line_where_it_belongs() -> None:
    ledger, bus, _ = listening()
    ledger.tell_written(message("prompt"))
    ledger.tell_said(message("reply"))
    mark, waiting = bus.seq, ledger.unwritten
    ledger.tell_written(message("retry"))
    merged = ledger.merge([message("prompt")], waiting, mark)
    assert uuids(merged) == ["prompt", "retry", "reply"]


def test_what_a_dead_process_never_wrote_is_forgotten() -> None:
    ledger, _, ear = listening()
    ledger.tell_said(message("a"))
    assert ledger.forget_unwritten()
    assert not ledger.forget_unwritten()
    ledger.tell_written(message("a"))
    assert ear.told == [("a", None), ("a", None)]


def test_a_subagents_message_waits_for_no_line_of_the_session() -> None:
    ledger, bus, _ = listening()
    nested = message("a")
    nested.parent_tool_use_id = "toolu_1"
    ledger.tell_nested(nested)
    assert ledger.unwritten == []
    assert ledger.merge([], [], bus.seq - 1) == []


def test_what_is_remembered_of_turns_that_are_over_is_bounded() -> None:
    ledger, _, ear = listening()
    ledger.work_begins()
    for number in range(KEPT + 10):
        ledger.tell_written(message(f"m{number}"))
    assert ledger.knows("m0")
    ledger.tell_said(large := message("large"))
    large.content = Raw(b"[%b]" % (b" " * MOST_BYTES))
    ledger.tell_written(large)
    ledger.tell_written(message("last"))
    ledger.work_ends()
    assert not ledger.knows("m0")
    # what was told lately is not told again, and what is large is not held for it
    told = len(ear.told)
    for uuid in ("m900", "large", "last"):
        ledger.tell_written(message(uuid))
    assert len(ear.told) == told
    assert [event.message.uuid for _, event in ledger._recent] == ["last"]


def test_words_of_sessions_that_went_quiet_are_not_kept() -> None:
    ledgers = Ledgers(Bus())
    quiet, at_work = ledgers.of("quiet"), ledgers.of("at work")
    for ledger in (quiet, at_work):
        ledger.tell_written(message("a"))
    at_work.work_begins()
    for number in range(AWAKE + 2):
        ledgers.of(f"another {number}").tell_written(message("b"))
    assert quiet.merge([], [], mark=0) == []
    assert quiet.knows("a")
    for ledger in (at_work, ledgers.of("another 10")):
        assert len(ledger.merge([], [], mark=0)) == 1
