"""Somebody who speaks the contract to a keeper that is a program of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from tests.process import Keeper, samples
from tests.talking.keeper import Ear


class Visitor:
    def __init__(self, client: aiohttp.ClientSession) -> None:
        self.client = client

    async def ask(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        async with self.client.request(method, path, json=body) as response:
            text = await response.text()
            assert response.status == status, f"{method} {path}: {response.status} {text}"
            return await response.json(content_type=None)

    async def get(self, path: str, status: int = 200) -> Any:
        return await self.ask("GET", path, None, status)

    async def post(self, path: str, body: Any = None, status: int = 200) -> Any:
        return await self.ask("POST", path, body, status)

    async def begin(self, workdir: Path, text: str, **more: Any) -> str:
        """Say something in a new session; returns its id."""
        body = {"workdir": str(workdir), "text": text, **more}
        return str((await self.post("/send", body, 202))["sessionId"])

    async def listen(self) -> Ear:
        ear = Ear(await self.client.ws_connect("/ws", max_msg_size=0))
        await ear.event("hello")
        await ear.say({"type": "subscribe", "sessions": ["*"]})
        await ear.event("subscribed")
        return ear

    async def listen_since(self, position: str) -> Ear:
        """Back again; what was missed comes next, or the word that it is forgotten."""
        ear = Ear(await self.client.ws_connect("/ws", max_msg_size=0))
        await ear.event("hello")
        await ear.say({"type": "subscribe", "sessions": ["*"], "since": position})
        await ear.until(lambda event: event["type"] in {"subscribed", "resync"})
        return ear

    async def sockets(self) -> int:
        """How many are open, by the keeper's own count."""
        return int((await self.figures())["claudekeeper_sockets"])

    async def figures(self) -> dict[str, float]:
        """What the keeper counts."""
        async with self.client.get("/metrics") as response:
            return samples(await response.text())

    async def cut_off(self) -> None:
        """Until the keeper has closed a socket that nobody read."""
        while not (await self.figures())["claudekeeper_sockets_cut_off_total"]:
            pass


@asynccontextmanager
async def visiting(keeper: Keeper, *, force_close: bool = False) -> AsyncIterator[Visitor]:
    lines = aiohttp.TCPConnector(force_close=force_close)
    async with aiohttp.ClientSession(keeper.url, headers=keeper.bearer, connector=lines) as client:
        yield Visitor(client)
