"""What was streamed and came to no message is known at the end of a turn."""

from __future__ import annotations

from typing import Any

import pytest

from claudekeeper.events.bus import EventBus
from claudekeeper.sessions.reply_stream import ReplyStream
from tests.support.transcript_writer import SESSION_ID

pytestmark = pytest.mark.asyncio


def starts(message: str) -> dict[str, Any]:
    return {"type": "message_start", "message": {"id": message}}


def begins(index: int, kind: str = "text") -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind}}


def says(text: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}}


def stream_of(*events: dict[str, Any]) -> ReplyStream:
    stream = ReplyStream(SESSION_ID, EventBus())
    for event in events:
        stream.handle_stream_event(event)
    return stream


def cut(stream: ReplyStream) -> list[tuple[str, int, str]]:
    return [(each.message_id, each.index, each.text) for each in stream.unfinished_blocks]


async def test_as_far_as_it_came() -> None:
    assert cut(stream_of(starts("m"), begins(0), says("one "), says("two"))) == [
        ("m", 0, "one two")
    ]


async def test_a_block_whose_message_has_not_come_yet() -> None:
    stream = stream_of(starts("m"), begins(0), says("one"), begins(1), says("two"))
    assert cut(stream) == [("m", 0, "one"), ("m", 1, "two")]
    stream.clear_withdrawn()
    assert cut(stream) == [("m", 1, "two")]


async def test_of_several_attempts_the_one_that_came_furthest() -> None:
    stream = stream_of(
        starts("m1"), begins(0), says("one two"), starts("m2"), begins(0), says("one")
    )
    assert cut(stream) == [("m1", 0, "one two"), ("m2", 0, "one")]
    stream.withdraw_block()
    assert cut(stream) == [("m1", 0, "one two")]
    stream = stream_of(
        starts("m1"), begins(0), says("one"), starts("m2"), begins(0), says("one two")
    )
    assert cut(stream) == [("m2", 0, "one two")]


async def test_nothing_once_its_message_has_come() -> None:
    stream = stream_of(starts("m"), begins(0), says("one"))
    stream.end_block("m")
    stream.clear_withdrawn()
    assert cut(stream) == []
