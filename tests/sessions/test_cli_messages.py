"""What a CLI says beside its messages becomes states of the turn."""

from __future__ import annotations

import json
from typing import Any

import pytest

from claudekeeper.events.bus import EventBus, PublishedEvent
from claudekeeper.events.delivery_log import DeliveryLog
from claudekeeper.sessions.cli_messages import CliMessageHandler
from claudekeeper.sessions.reply_stream import ReplyStream
from claudekeeper.sessions.turns import Turns
from tests.support.transcript_writer import SESSION_ID


class IgnoredEvents:
    """Nobody runs turns here."""

    def handle_init(self) -> None: ...
    def handle_result(self, result: dict[str, Any]) -> None: ...
    def handle_mode(self, mode: str, before: str | None) -> None: ...
    def handle_repeated_prompt(self) -> None: ...


class Statuses:
    def __init__(self) -> None:
        self.statuses: list[Any] = []

    def handle_event(self, statuses: PublishedEvent) -> None:
        event = json.loads(statuses.payload)
        if event["type"] == "turn/status":
            self.statuses.append(event)


@pytest.fixture
def statuses() -> Statuses:
    return Statuses()


@pytest.fixture
def handler(statuses: Statuses) -> CliMessageHandler:
    bus = EventBus()
    bus.subscribe(statuses)
    return CliMessageHandler(
        DeliveryLog(SESSION_ID, bus),
        ReplyStream(SESSION_ID, bus),
        Turns(SESSION_ID, bus),
        IgnoredEvents(),
    )


def test_a_limit_that_comes_near_or_is_met_is_told(
    handler: CliMessageHandler, statuses: Statuses
) -> None:
    for status in ("allowed", "allowed_warning", "rejected"):
        info = {"status": status, "resetsAt": 1_794_999_999, "rateLimitType": "five_hour"}
        handler.handle({"type": "rate_limit_event", "rate_limit_info": info})
    assert [(each["status"], each["details"]["status"]) for each in statuses.statuses] == [
        ("rateLimited", "allowed_warning"),
        ("rateLimited", "rejected"),
    ]
    assert statuses.statuses[0]["details"]["resetsAt"] == 1_794_999_999


def test_tasks_in_the_background_are_told_from_their_start_to_their_end(
    handler: CliMessageHandler, statuses: Statuses
) -> None:
    for subtype, more in (
        ("task_started", {"tool_use_id": "t1", "description": "Start the server"}),
        ("task_progress", {"description": "Waiting"}),
        ("task_updated", {"patch": {"status": "running"}}),
    ):
        handler.handle({"type": "system", "subtype": subtype, "task_id": "b1", **more})
        assert handler.background_tasks == {"b1"}
    ended = {"subtype": "task_notification", "status": "completed", "summary": "It is over"}
    handler.handle({"type": "system", "task_id": "b1", **ended})
    assert handler.background_tasks == set()
    assert [each["status"] for each in statuses.statuses] == [
        "taskStarted",
        "taskProgress",
        "taskUpdated",
        "taskEnded",
    ]
    assert {each["taskId"] for each in statuses.statuses} == {"b1"}
    assert (statuses.statuses[-1]["taskStatus"], statuses.statuses[-1]["description"]) == (
        "completed",
        "It is over",
    )


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"type": "tomorrow"},
        {"type": "system"},
        {"type": "system", "subtype": "tomorrow"},
        {"type": "rate_limit_event", "rate_limit_info": 5},
        {"type": "stream_event"},
        {"type": "stream_event", "event": {"type": "content_block_delta"}},
        {"type": "assistant"},
        {"type": "user", "message": "hello"},
        {"type": "transcript_mirror", "filePath": f"{SESSION_ID}.jsonl", "entries": [5, {}]},
    ],
)
def test_what_is_new_or_odd_is_passed_over(
    handler: CliMessageHandler, statuses: Statuses, odd: Any
) -> None:
    handler.handle(odd)
    assert statuses.statuses == []
