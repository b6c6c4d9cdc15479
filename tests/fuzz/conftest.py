"""A keeper in a thread of its own, with real sockets and a CLI that answers at once."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claudekeeper.attention.pending_attention import PendingAttention
from claudekeeper.core.config import Config
from claudekeeper.events.bus import PublishedEvent
from claudekeeper.net.listen import ListenAddress, serve_app
from claudekeeper.server.app import create_app
from claudekeeper.server.app_keys import ATTENTION, BUS
from claudekeeper.server.data_paths import DataPaths
from claudekeeper.sessions.cli.client import CliClient, CliListener, CliOptions
from claudekeeper.sessions.message_queue import QueuedMessage
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter

TOKEN = "a-token-that-is-long-enough"


class EchoClient:
    """A CLI that takes every message and has nothing to say to it."""

    bypass = False
    pid = None
    stderr_tail = ""

    def __init__(self, opening: CliOptions, listener: CliListener) -> None:
        self._id = opening.session_id
        self._listener = listener

    async def connect(self) -> None: ...
    async def interrupt(self) -> None: ...
    async def set_model(self, model: str | None) -> None: ...
    async def set_permission_mode(self, mode: str) -> None: ...
    async def close(self) -> None: ...

    async def send(self, item: QueuedMessage) -> None:
        about = {"session_id": self._id}
        self._listener.handle_message({"type": "system", "subtype": "init", "model": "m", **about})
        self._listener.handle_message(
            {"type": "result", "subtype": "success", "is_error": False, **about}
        )

    async def info(self) -> dict[str, Any]:
        return {}


async def make_echo(opening: CliOptions, listener: CliListener) -> CliClient:
    return EchoClient(opening, listener)


async def fake_side_query(_system: str, _prompt: str, schema: dict[str, Any]) -> dict[str, Any]:
    """What Claude would write, by nobody."""
    return dict.fromkeys(schema["properties"], "words")


class AutoResolver:
    """Answers every question, so that no hook waits for a person for ever."""

    def __init__(self, pending: PendingAttention) -> None:
        self._attention = pending

    def handle_event(self, published: PublishedEvent) -> None:
        event = json.loads(published.payload)
        if event["type"] == "attention/raised":
            self._attention.settle(event["attention"]["id"], "deny", "somebody")


class FuzzedKeeper:
    def __init__(self, url: str, workdir: Path) -> None:
        self.url = url
        self.workdir = workdir
        self.auth_headers = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(scope="module")
def keeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FuzzedKeeper]:
    home = tmp_path_factory.mktemp("fuzzed")
    workdir = home / "work"
    workdir.mkdir()
    transcript = TranscriptWriter()
    for number in range(5):
        transcript.prompt(f"number {number}")
    transcript.write(home / "projects")
    paths = DataPaths(home / "projects", home / "state.json", home / "cache.db")
    ready: list[str] = []
    started, over = threading.Event(), asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def serve() -> None:
        loops.append(asyncio.get_running_loop())
        app = create_app(
            Config(token=TOKEN),
            paths,
            "2.1.0",
            make_client=make_echo,
            query_claude=fake_side_query,
        )
        app[BUS].subscribe(AutoResolver(app[ATTENTION]))
        async with serve_app(app, ListenAddress()) as url:
            ready.append(url)
            started.set()
            await over.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), name="fuzzed-keeper")
    thread.start()
    started.wait()
    yield FuzzedKeeper(ready[0], workdir)
    loops[0].call_soon_threadsafe(over.set)
    thread.join()


@pytest.fixture
def session() -> str:
    return SESSION_ID
