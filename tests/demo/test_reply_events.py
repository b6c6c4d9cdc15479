"""A reply becomes the events that the Messages API sends."""

from __future__ import annotations

from typing import Any

import msgspec

from claudekeeper.demo.reply_events import (
    Drop,
    Pause,
    ReplyTokens,
    encode_event,
    events,
    message,
    split_text,
    usage_of,
)
from claudekeeper.demo.steps import Call, Fail, Reply, Say, Think
from tests.demo.model_requests import assistant, prompt, request, text, user

USAGE = ReplyTokens(4, 100, 200)


def sent(*reply: Any) -> list[Any]:
    return list(events(reply, "claude-opus-5-5", USAGE))


def of_type(sent_events: list[Any], kind: str) -> list[dict[str, Any]]:
    return [event for event in sent_events if isinstance(event, dict) and event["type"] == kind]


def test_a_text_comes_in_many_deltas_that_add_up() -> None:
    words = "One two\n\nthree  four.\n"
    pieces = [event["delta"]["text"] for event in of_type(sent(Say(words)), "content_block_delta")]
    assert len(pieces) == 5
    assert "".join(pieces) == words


def test_the_order_is_that_of_the_messages_api() -> None:
    assert [event["type"] for event in sent(Say("Hi"))] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]


def test_a_tool_call_is_streamed_as_json() -> None:
    tool_input = {"command": "echo " + "x" * 500}
    sent_events = sent(Call("Bash", tool_input))
    pieces = [
        event["delta"]["partial_json"] for event in of_type(sent_events, "content_block_delta")
    ]
    assert len(pieces) > 1
    assert msgspec.json.decode("".join(pieces)) == tool_input
    assert of_type(sent_events, "message_delta")[0]["delta"]["stop_reason"] == "tool_use"


def test_two_tool_calls_have_two_ids() -> None:
    starts = of_type(sent(Call("Read", {}), Call("Read", {})), "content_block_start")
    assert len({start["content_block"]["id"] for start in starts}) == 2
    assert [start["index"] for start in starts] == [0, 1]


def test_thinking_is_signed() -> None:
    sent_events = of_type(sent(Think("hm"), Say("Yes.")), "content_block_delta")
    assert [event["delta"]["type"] for event in sent_events] == [
        "thinking_delta",
        "signature_delta",
        "text_delta",
    ]


def test_texts_in_a_row_are_one_block() -> None:
    assert len(of_type(sent(Say("One."), Say("Two.")), "content_block_start")) == 1


def test_a_slow_text_pauses_between_its_words() -> None:
    pauses = [event for event in sent(Say("a b c d", seconds=2)) if isinstance(event, Pause)]
    assert pauses == [Pause(0.5)] * 4


def test_a_dropped_connection_ends_in_the_middle() -> None:
    sent_events = sent(Say("First."), Fail("drop"))
    assert isinstance(sent_events[-1], Drop)
    assert of_type(sent_events, "content_block_delta")
    assert not of_type(sent_events, "message_stop")


def test_an_error_in_the_stream_is_an_event() -> None:
    assert sent(Fail("stream"))[-1]["error"]["type"] == "overloaded_error"


def test_output_is_counted_from_what_is_sent() -> None:
    reply: Reply = (Say("x" * 400),)
    (end,) = of_type(sent(*reply), "message_delta")
    assert end["usage"]["output_tokens"] == 100
    assert message(reply, "m", USAGE)["usage"]["output_tokens"] == 100


def test_in_one_piece_it_is_the_same_reply() -> None:
    whole = message((Say("Look:"), Call("Bash", {"command": "ls"})), "m", USAGE)
    assert [block["type"] for block in whole["content"]] == ["text", "tool_use"]
    assert whole["stop_reason"] == "tool_use"


def test_a_first_request_fills_the_cache() -> None:
    usage = usage_of(request(prompt("hello")), 40_000)
    assert usage.total_input == 10_000
    assert usage.cache_read_input_tokens == 0


def test_a_later_request_reads_from_the_cache() -> None:
    model_request = request(prompt("hello"), assistant(text("Hi")), user(text("x" * 4_000)))
    usage = usage_of(model_request, 40_000)
    assert usage.total_input == 10_000
    assert usage.cache_read_input_tokens > 8_000
    assert 1_000 <= usage.cache_creation_input_tokens < 1_100


def test_an_image_does_not_cost_its_bytes() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "x" * 1_000_000}
    model_request = request(user({"type": "image", "source": source}, text("what?")))
    assert usage_of(model_request, 1_004_000).total_input == 1_000 + 1_500


def test_an_event_is_two_lines_and_an_empty_one() -> None:
    assert encode_event({"type": "ping"}) == b'event: ping\ndata: {"type":"ping"}\n\n'


def test_no_text_has_no_deltas() -> None:
    assert split_text("") == []
