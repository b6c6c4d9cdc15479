"""Somebody who speaks the contract to a keeper that is a program of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from tests.support.keeper_in_process import SocketListener
from tests.support.keeper_process import KeeperProcess, parse_metrics


class KeeperApi:
    def __init__(self, client: aiohttp.ClientSession) -> None:
        self.client = client

    async def request(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        async with self.client.request(method, path, json=body) as response:
            text = await response.text()
            assert response.status == status, f"{method} {path}: {response.status} {text}"
            return await response.json(content_type=None)

    async def get(self, path: str, status: int = 200) -> Any:
        return await self.request("GET", path, None, status)

    async def post(self, path: str, body: Any = None, status: int = 200) -> Any:
        return await self.request("POST", path, body, status)

    async def start_session(self, workdir: Path, text: str, **more: Any) -> str:
        """Say something in a new session; returns its id."""
        body = {"workdir": str(workdir), "text": text, **more}
        return str((await self.post("/send", body, 202))["sessionId"])

    async def listen(self) -> SocketListener:
        listener = SocketListener(await self.client.ws_connect("/ws", max_msg_size=0))
        await listener.wait_for_event("hello")
        await listener.send({"type": "subscribe", "sessions": ["*"]})
        await listener.wait_for_event("subscribed")
        return listener

    async def listen_since(self, position: str) -> SocketListener:
        """Back again; what was missed comes next, or the word that it is forgotten."""
        listener = SocketListener(await self.client.ws_connect("/ws", max_msg_size=0))
        await listener.wait_for_event("hello")
        await listener.send({"type": "subscribe", "sessions": ["*"], "since": position})
        await listener.wait_for(lambda event: event["type"] in {"subscribed", "resync"})
        return listener

    async def open_sockets(self) -> int:
        """How many are open, by the keeper's own count."""
        return int((await self.metrics())["claudekeeper_sockets"])

    async def metrics(self) -> dict[str, float]:
        """What the keeper counts."""
        async with self.client.get("/metrics") as response:
            return parse_metrics(await response.text())

    async def wait_for_slow_close(self) -> None:
        """Until the keeper has closed a socket that nobody read."""
        while not (await self.metrics())["claudekeeper_sockets_cut_off_total"]:
            pass


@asynccontextmanager
async def connect_api(
    keeper: KeeperProcess, *, force_close: bool = False
) -> AsyncIterator[KeeperApi]:
    lines = aiohttp.TCPConnector(force_close=force_close)
    async with aiohttp.ClientSession(
        keeper.url, headers=keeper.auth_headers, connector=lines
    ) as client:
        yield KeeperApi(client)
