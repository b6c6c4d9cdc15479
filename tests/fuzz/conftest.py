"""A keeper in a thread of its own, with real sockets and a CLI that answers at once."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claudekeeper.config import Config
from claudekeeper.edge.app import Places, create_app
from claudekeeper.edge.keys import BUS, DESK
from claudekeeper.live.attention import Desk
from claudekeeper.live.bus import Told
from claudekeeper.live.client import Client, Ears, Opening
from claudekeeper.live.line import Item
from doorway.listening import Place, served
from tests.writing import SESSION, Transcript

TOKEN = "a-token-that-is-long-enough"


class Echo:
    """A CLI that takes every message and has nothing to say to it."""

    bypass = False
    pid = None
    last_words = ""

    def __init__(self, opening: Opening, ears: Ears) -> None:
        self._id = opening.session_id
        self._ears = ears

    async def connect(self) -> None: ...
    async def interrupt(self) -> None: ...
    async def set_model(self, model: str | None) -> None: ...
    async def set_permission_mode(self, mode: str) -> None: ...
    async def close(self) -> None: ...

    async def send(self, item: Item) -> None:
        about = {"session_id": self._id}
        self._ears.hear({"type": "system", "subtype": "init", "model": "m", **about})
        self._ears.hear({"type": "result", "subtype": "success", "is_error": False, **about})

    async def info(self) -> dict[str, Any]:
        return {}


async def make_echo(opening: Opening, ears: Ears) -> Client:
    return Echo(opening, ears)


async def make_up(_system: str, _prompt: str, schema: dict[str, Any]) -> dict[str, Any]:
    """What Claude would write, by nobody."""
    return dict.fromkeys(schema["properties"], "words")


class Somebody:
    """Answers every question, so that no hook waits for a person for ever."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def hear(self, told: Told) -> None:
        event = json.loads(told.line)
        if event["type"] == "attention/raised":
            self._desk.settle(event["attention"]["id"], "deny", "somebody")


class Running:
    def __init__(self, url: str, workdir: Path) -> None:
        self.url = url
        self.workdir = workdir
        self.bearer = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(scope="module")
def keeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    home = tmp_path_factory.mktemp("fuzzed")
    workdir = home / "work"
    workdir.mkdir()
    transcript = Transcript()
    for number in range(5):
        transcript.prompt(f"number {number}")
    transcript.write(home / "projects")
    places = Places(home / "projects", home / "state.json", home / "cache.db")
    ready: list[str] = []
    started, over = threading.Event(), asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def serve() -> None:
        loops.append(asyncio.get_running_loop())
        app = create_app(Config(token=TOKEN), places, "2.1.0", make_client=make_echo, ask=make_up)
        app[BUS].join(Somebody(app[DESK]))
        async with served(app, Place()) as url:
            ready.append(url)
            started.set()
            await over.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), name="fuzzed-keeper")
    thread.start()
    started.wait()
    yield Running(ready[0], workdir)
    loops[0].call_soon_threadsafe(over.set)
    thread.join()


@pytest.fixture
def session() -> str:
    return SESSION
