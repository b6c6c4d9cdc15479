"""What was said and what is written, in one order, each once."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from claudekeeper.contract.message import Message
from claudekeeper.events.bus import EventBus, PublishedEvent
from claudekeeper.events.delivery_log import (
    MAX_ACTIVE_LOGS,
    MAX_BYTES,
    MAX_DELIVERED_BETWEEN_TURNS,
    DeliveryLog,
    DeliveryLogs,
)

ONE = "00000000-0000-4000-8000-000000000001"


class MessageListener:
    def __init__(self) -> None:
        self.messages: list[tuple[str, str | None]] = []

    def handle_event(self, published: PublishedEvent) -> None:
        event = msgspec.json.decode(published.payload)
        self.messages.append((event["message"]["uuid"], event["after"]))


def message(uuid: str) -> Message:
    return Message(uuid, ONE, "assistant", Raw(b"[]"), None, "reply")


def listening() -> tuple[DeliveryLog, EventBus, MessageListener]:
    bus, listener = EventBus(), MessageListener()
    bus.subscribe(listener)
    return DeliveryLog(ONE, bus), bus, listener


def uuids(messages: list[Message]) -> list[str]:
    return [each.uuid for each in messages]


def test_what_was_said_is_not_told_again_when_it_is_written() -> None:
    ledger, _, listener = listening()
    ledger.deliver_live(message("a"))
    ledger.deliver_from_file(message("a"))
    assert listener.messages == [("a", None)]
    assert ledger.unwritten_messages == []


def test_a_line_that_nobody_said_is_told_in_its_place() -> None:
    ledger, _, listener = listening()
    ledger.deliver_from_file(message("prompt"))
    ledger.deliver_live(message("reply"))
    ledger.deliver_from_file(message("retry"))
    ledger.deliver_from_file(message("reply"))
    assert listener.messages == [("prompt", None), ("reply", None), ("retry", "prompt")]


def test_a_snapshot_has_what_is_not_written_yet() -> None:
    ledger, bus, _ = listening()
    ledger.deliver_live(message("a"))
    mark, waiting = bus.seq, ledger.unwritten_messages
    ledger.deliver_from_file(message("a"))
    ledger.deliver_live(message("b"))
    assert uuids(ledger.merge_page([], waiting, mark)) == ["a", "b"]
    assert uuids(ledger.merge_page([message("a")], waiting, mark)) == ["a", "b"]
    assert uuids(ledger.merge_page([message("a"), message("b")], waiting, mark)) == ["a", "b"]


def test_a_snapshot_puts_a_late_line_where_it_belongs() -> None:
    ledger, bus, _ = listening()
    ledger.deliver_from_file(message("prompt"))
    ledger.deliver_live(message("reply"))
    mark, waiting = bus.seq, ledger.unwritten_messages
    ledger.deliver_from_file(message("retry"))
    merged = ledger.merge_page([message("prompt")], waiting, mark)
    assert uuids(merged) == ["prompt", "retry", "reply"]


def test_what_a_dead_process_never_wrote_is_forgotten() -> None:
    ledger, _, listener = listening()
    ledger.deliver_live(message("a"))
    assert ledger.discard_unwritten()
    assert not ledger.discard_unwritten()
    ledger.deliver_from_file(message("a"))
    assert listener.messages == [("a", None), ("a", None)]


def test_a_subagents_message_waits_for_no_line_of_the_session() -> None:
    ledger, bus, _ = listening()
    nested = message("a")
    nested.parent_tool_use_id = "toolu_1"
    ledger.deliver_from_subagent(nested)
    assert ledger.unwritten_messages == []
    assert ledger.merge_page([], [], bus.seq - 1) == []


def test_what_is_remembered_of_turns_that_are_over_is_bounded() -> None:
    ledger, _, listener = listening()
    ledger.begin_turn()
    for number in range(MAX_DELIVERED_BETWEEN_TURNS + 10):
        ledger.deliver_from_file(message(f"m{number}"))
    assert ledger.has_delivered("m0")
    ledger.deliver_live(large := message("large"))
    large.content = Raw(b"[%b]" % (b" " * MAX_BYTES))
    ledger.deliver_from_file(large)
    ledger.deliver_from_file(message("last"))
    ledger.end_turn()
    assert not ledger.has_delivered("m0")
    # what was told lately is not told again, and what is large is not held for it
    count = len(listener.messages)
    for uuid in ("m900", "large", "last"):
        ledger.deliver_from_file(message(uuid))
    assert len(listener.messages) == count
    assert [event.message.uuid for _, event in ledger._recent] == ["last"]


def test_words_of_sessions_that_went_quiet_are_not_kept() -> None:
    ledgers = DeliveryLogs(EventBus())
    quiet, at_work = ledgers.of("quiet"), ledgers.of("at work")
    for ledger in (quiet, at_work):
        ledger.deliver_from_file(message("a"))
    at_work.begin_turn()
    for number in range(MAX_ACTIVE_LOGS + 2):
        ledgers.of(f"another {number}").deliver_from_file(message("b"))
    assert quiet.merge_page([], [], seq_before=0) == []
    assert quiet.has_delivered("a")
    for ledger in (at_work, ledgers.of("another 10")):
        assert len(ledger.merge_page([], [], seq_before=0)) == 1
