"""A terminal that is answered in the moment in which it is answered here."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from claudekeeper.live.attention import Desk
from claudekeeper.live.bus import Bus, Told
from claudekeeper.live.presence import Presences
from claudekeeper.live.terminals import MOST_OPEN, Terminals
from claudekeeper.model.attention import Resolve
from claudekeeper.model.entries import Entry, parse
from claudekeeper.model.hooks import HookCall, HookEvent
from tests.waiting import until
from tests.writing import SESSION, Transcript


class Heard:
    def __init__(self) -> None:
        self.events: list[Any] = []

    def hear(self, told: Told) -> None:
        self.events.append(json.loads(told.line))

    def settled(self) -> list[tuple[str, str]]:
        return [
            (event["decision"], event["by"])
            for event in self.events
            if event["type"] == "attention/settled"
        ]


@pytest.mark.parametrize("written", ["before it was asked", "with its result"])
async def test_what_a_terminal_decided_first_is_put_right(tmp_path: Path, written: str) -> None:
    """The result is heard after our answer won, and before whoever asked has it."""
    transcript = Transcript()
    transcript.call("t1")
    lines = list(transcript.lines) if written == "before it was asked" else []
    bus, heard = Bus(), Heard()
    bus.join(heard)
    desk = Desk(bus)

    async def recent(_session: str) -> list[Entry]:
        return [entry for line in lines for entry in parse(line)[0]]

    terminals = Terminals(desk, Presences(tmp_path), bus, recent)
    event = HookEvent(
        hook_event_name="PermissionRequest",
        session_id=SESSION,
        tool_name="Bash",
        tool_input={"command": "ls"},
    )
    asking = asyncio.create_task(terminals.ask(HookCall(event=event), lambda: True))
    await until(lambda: len(desk.all()) == 1)
    (question,) = desk.all()
    transcript.result("t1")
    lines[:] = transcript.lines
    desk.resolve(Resolve(attention_id=question.id, decision="deny", message="no", by="phone"))
    terminals.heard(SESSION, await recent(SESSION))
    assert (await asking) is not None
    await until(lambda: len(heard.settled()) == 2)
    # said again, it is known already
    terminals.heard(SESSION, await recent(SESSION))
    assert heard.settled() == [("deny", "phone"), ("allow", "terminal")]
    await terminals.close()


@pytest.mark.parametrize(("asked_at", "is_asked"), [("2026-03-01", False), ("2026-04-01", True)])
async def test_what_was_answered_before_anybody_heard_of_it_is_not_asked(
    tmp_path: Path, asked_at: str, is_asked: bool
) -> None:
    """A keeper that was busy hears late; an older call of the same words is another one."""
    transcript = Transcript()
    transcript.call("t1")
    transcript.result("t1")
    bus = Bus()
    desk = Desk(bus)

    async def recent(_session: str) -> list[Entry]:
        return [entry for line in transcript.lines for entry in parse(line)[0]]

    terminals = Terminals(desk, Presences(tmp_path), bus, recent)
    event = HookEvent(
        hook_event_name="PermissionRequest",
        session_id=SESSION,
        tool_name="Bash",
        tool_input={"command": "ls"},
    )
    call = HookCall(event=event, at=f"{asked_at}T00:00:00.000Z")
    asking = asyncio.create_task(terminals.ask(call, lambda: True))
    await until(lambda: asking.done() or len(desk.all()) == 1)
    assert bool(desk.all()) == is_asked
    await terminals.close()
    asking.cancel()
    await asyncio.wait([asking])


async def test_more_questions_than_a_person_can_answer_stay_in_their_terminals(
    tmp_path: Path,
) -> None:
    desk = Desk(Bus())

    async def recent(_session: str) -> list[Entry]:
        return []

    terminals = Terminals(desk, Presences(tmp_path), Bus(), recent)

    def call(number: int) -> HookCall:
        event = HookEvent(
            hook_event_name="PermissionRequest",
            session_id=SESSION,
            tool_name="Bash",
            tool_input={"command": f"echo {number}"},
        )
        return HookCall(event=event)

    asking = [
        asyncio.create_task(terminals.ask(call(number), lambda: True))
        for number in range(MOST_OPEN)
    ]
    await until(lambda: len(desk.all()) == MOST_OPEN)
    assert await terminals.ask(call(-1), lambda: True) is None
    assert len(desk.all()) == MOST_OPEN
    await terminals.close()
    for each in asking:
        each.cancel()
    await asyncio.wait(asking)
