"""The pipe between the SDK and the CLI, at its end."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from claudekeeper.contract.attention import Answer
from claudekeeper.demo.messages_api import ScriptedApi
from claudekeeper.sessions.cli.client import CliOptions, PermissionRequest, make_sdk_client
from claudekeeper.sessions.message_queue import QueuedMessage
from tests.support.keeper_in_process import new_uuid
from tests.support.transcript_writer import projects_folder


class Listener:
    """Knows when the reply has begun."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()

    def handle_message(self, raw: dict[str, Any]) -> None:
        if raw.get("type") == "stream_event":
            self.begun.set()

    def handle_exit(self, error: Exception | None) -> None: ...

    async def request_permission(self, question: PermissionRequest) -> Answer:
        raise AssertionError("nothing is asked here")


def pipes() -> set[str]:
    """The ends of pipes that this process holds."""
    targets: set[str] = set()
    for entry in Path("/proc/self/fd").iterdir():
        try:
            name = str(entry.readlink())
        except OSError:
            continue
        if name.startswith("pipe:"):
            targets.add(f"{entry.name} {name}")
    return targets


async def test_a_cli_that_is_ended_in_mid_reply_sees_it_through_and_leaves_no_pipe(
    isolated: Path, scripted_api: ScriptedApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody hears the rest; a CLI that nobody reads would wait until it is ended by force."""
    monkeypatch.setenv("ANTHROPIC_BASE_URL", scripted_api.url)
    workdir = isolated / "work"
    workdir.mkdir()
    before = pipes()
    listener, session = Listener(), str(uuid4())
    client = await make_sdk_client(
        CliOptions(session_id=session, workdir=str(workdir), resume=False), listener
    )
    await client.connect()
    await client.send(QueuedMessage(new_uuid(), "count: 5000"))
    await listener.begun.wait()
    await client.close()
    # the system closes what is closed within the next round of the loop
    await asyncio.sleep(0)
    assert pipes() == before
    (path,) = projects_folder().glob(f"*/{session}.jsonl")
    assert "4999 5000" in path.read_text()
