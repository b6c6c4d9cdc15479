"""A terminal that is answered in the moment in which it is answered here."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from claudekeeper.attention.hook_calls import HookCall, HookEvent
from claudekeeper.attention.pending_attention import PendingAttention
from claudekeeper.attention.terminal_prompts import MAX_OPEN, TerminalPrompts
from claudekeeper.catalog.own_processes import OwnProcesses
from claudekeeper.catalog.presence import PresenceMonitor
from claudekeeper.contract.attention import Resolve
from claudekeeper.events.bus import EventBus, PublishedEvent
from claudekeeper.events.transcript_follower import NewEntries
from claudekeeper.transcripts.entries import Entry, parse_line
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter
from tests.support.waiting import wait_until


class Heard:
    def __init__(self) -> None:
        self.events: list[Any] = []

    def handle_event(self, event: PublishedEvent) -> None:
        self.events.append(json.loads(event.payload))

    def settled(self) -> list[tuple[str, str]]:
        return [
            (event["decision"], event["by"])
            for event in self.events
            if event["type"] == "attention/settled"
        ]


@pytest.mark.parametrize(
    "written",
    [pytest.param(1, id="before the question"), pytest.param(0, id="with the result")],
)
async def test_what_a_terminal_decided_first_is_put_right(tmp_path: Path, written: int) -> None:
    """The result is heard after our answer won, and before whoever asked has it."""
    transcript = TranscriptWriter()
    transcript.call("t1")
    assert len(transcript.lines) == 1
    lines = transcript.lines[:written]
    bus, recorder = EventBus(), Heard()
    bus.subscribe(recorder)
    pending = PendingAttention(bus)

    async def recent(_session: str) -> list[Entry]:
        return [entry for line in lines for entry in parse_line(line)[0]]

    terminals = TerminalPrompts(pending, PresenceMonitor(tmp_path, OwnProcesses()), bus, recent)
    event = HookEvent(
        hook_event_name="PermissionRequest",
        session_id=SESSION_ID,
        tool_name="Bash",
        tool_input={"command": "ls"},
    )
    asking = asyncio.create_task(
        terminals.handle_permission_request(HookCall(event=event), lambda: True)
    )
    await wait_until(lambda: len(pending.all()) == 1)
    (question,) = pending.all()
    transcript.result("t1")
    lines[:] = transcript.lines
    pending.resolve(Resolve(attention_id=question.id, decision="deny", message="no", by="phone"))
    terminals.handle_entries(NewEntries(SESSION_ID, await recent(SESSION_ID)))
    assert (await asking) is not None
    await wait_until(lambda: len(recorder.settled()) == 2)
    # said again, it is known already
    terminals.handle_entries(NewEntries(SESSION_ID, await recent(SESSION_ID)))
    assert recorder.settled() == [("deny", "phone"), ("allow", "terminal")]
    await terminals.close()


@pytest.mark.parametrize(("asked_at", "is_asked"), [("2026-03-01", False), ("2026-04-01", True)])
async def test_what_was_answered_before_anybody_heard_of_it_is_not_asked(
    tmp_path: Path, asked_at: str, is_asked: bool
) -> None:
    """A keeper that was busy hears late; an older call of the same words is another one."""
    transcript = TranscriptWriter()
    transcript.call("t1")
    transcript.result("t1")
    bus = EventBus()
    pending = PendingAttention(bus)

    async def recent(_session: str) -> list[Entry]:
        return [entry for line in transcript.lines for entry in parse_line(line)[0]]

    terminals = TerminalPrompts(pending, PresenceMonitor(tmp_path, OwnProcesses()), bus, recent)
    event = HookEvent(
        hook_event_name="PermissionRequest",
        session_id=SESSION_ID,
        tool_name="Bash",
        tool_input={"command": "ls"},
    )
    call = HookCall(event=event, at=f"{asked_at}T00:00:00.000Z")
    asking = asyncio.create_task(terminals.handle_permission_request(call, lambda: True))
    await wait_until(lambda: asking.done() or len(pending.all()) == 1)
    assert bool(pending.all()) == is_asked
    await terminals.close()
    asking.cancel()
    await asyncio.wait([asking])


async def test_more_questions_than_a_person_can_answer_stay_in_their_terminals(
    tmp_path: Path,
) -> None:
    pending = PendingAttention(EventBus())

    async def recent(_session: str) -> list[Entry]:
        return []

    terminals = TerminalPrompts(
        pending, PresenceMonitor(tmp_path, OwnProcesses()), EventBus(), recent
    )

    def call(number: int) -> HookCall:
        event = HookEvent(
            hook_event_name="PermissionRequest",
            session_id=SESSION_ID,
            tool_name="Bash",
            tool_input={"command": f"echo {number}"},
        )
        return HookCall(event=event)

    asking = [
        asyncio.create_task(terminals.handle_permission_request(call(number), lambda: True))
        for number in range(MAX_OPEN)
    ]
    await wait_until(lambda: len(pending.all()) == MAX_OPEN)
    assert await terminals.handle_permission_request(call(-1), lambda: True) is None
    assert len(pending.all()) == MAX_OPEN
    await terminals.close()
    for each in asking:
        each.cancel()
    await asyncio.wait(asking)
