"""What became of a turn, as it is told to everybody."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from claudekeeper.contract.conversations import DispatchOutcome
from claudekeeper.contract.errors import Fault
from claudekeeper.contract.events import MessageAdded, TurnFinished, TurnStarted
from claudekeeper.contract.message import Message
from claudekeeper.dispatch.turn_results import TurnResults
from claudekeeper.events.bus import EventBus

USAGE = {"input_tokens": 100, "output_tokens": 200, "cache_read_input_tokens": 1_000}
COST = (100 * 5 + 1_000 * 0.1 * 5 + 200 * 25) / 1_000_000


def reply(message_id: str, uuid: str) -> MessageAdded:
    message = Message(
        uuid=uuid,
        session_id="s",
        role="assistant",
        content=msgspec.Raw(msgspec.json.encode([{"type": "text", "text": uuid}])),
        timestamp=None,
        kind="reply",
        message_id=message_id,
        model="claude-opus-4-8",
        usage=msgspec.Raw(msgspec.json.encode(USAGE)),
    )
    return MessageAdded(session_id="s", message=message)


async def outcome(**finished: Any) -> DispatchOutcome:
    bus = EventBus()
    results = TurnResults(bus, lambda _: False)
    future = results.expect("s", "u")
    bus.publish(TurnStarted(session_id="s", uuid="u"))
    # two lines of one reply, and another one
    for message_id, uuid in (("m1", "a"), ("m1", "b"), ("m2", "c")):
        bus.publish(reply(message_id, uuid))
    bus.publish(TurnFinished(session_id="s", uuid="u", **finished))
    return await asyncio.wait_for(future, 10)


async def test_a_turn_uses_what_the_cli_says_of_it() -> None:
    usage = {"input_tokens": 5_000, "output_tokens": None, "odd": {"x": 1}}
    ended = await outcome(outcome="done", usage=usage, cost_usd=0.5)
    assert (ended.tokens, ended.tokens_used, ended.cost_usd) == (1_300, 5_000, 0.5)


@pytest.mark.parametrize("usage", [None, {"input_tokens": "many"}])
async def test_a_turn_that_was_not_seen_through_used_what_was_heard(usage: Any) -> None:
    ended = await outcome(outcome="failed", error=Fault("cli_crashed", "It ended."), usage=usage)
    assert (ended.tokens, ended.tokens_used) == (1_300, 2_600)
    assert ended.cost_usd == pytest.approx(2 * COST)
