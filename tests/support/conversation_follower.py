"""A client that keeps a conversation by the contract: a page, events, a page after `resync`."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.support.keeper_in_process import Event, InProcessKeeper, SocketListener, text_of


class HistoryFollower:
    """Its `messages` are to be the history, whenever it began and however often it was away."""

    def __init__(self, keeper: InProcessKeeper, session: str) -> None:
        self._keeper = keeper
        self._session = session
        self.messages: list[Any] = []
        self._position = ""
        self._partials: dict[tuple[str, int], str] = {}
        self._listener: SocketListener | None = None
        self._reader_task: asyncio.Task[None] | None = None

    async def load(self) -> None:
        page = await self._keeper.get(f"/sessions/{self._session}?limit=1000")
        self.messages = page["messages"]
        self._position = page["position"]
        self._partials = {}
        if (partial := page["partial"]) is not None:
            self._partials[partial["messageId"], partial["index"]] = partial["text"]

    async def connect(self) -> None:
        """Also after having been away: from where it was."""
        if not self._position:
            await self.load()
        listener = self._listener = await self._keeper.listen(self._session, since=self._position)
        if listener.events[-1]["type"] == "resync":
            await self.load()
        self._reader_task = asyncio.get_running_loop().create_task(self._read_until_pong(listener))

    async def disconnect(self) -> None:
        if self._listener is not None and self._reader_task is not None:
            await self._drain()
            self._reader_task.cancel()
            await asyncio.wait([self._reader_task])
            await self._listener.close()
        self._listener = self._reader_task = None

    async def catch_up(self) -> None:
        """Until everything that was told so far is known."""
        if self._reader_task is None:
            await self.connect()
        await self._drain()

    async def _drain(self) -> None:
        assert self._listener is not None
        assert self._reader_task is not None
        await self._listener.send({"type": "ping"})
        await self._reader_task
        self._reader_task = asyncio.get_running_loop().create_task(
            self._read_until_pong(self._listener)
        )

    async def _read_until_pong(self, listener: SocketListener) -> None:
        while (event := await listener.next_event())["type"] != "pong":
            await self._apply(event)

    async def _apply(self, event: Event) -> None:
        if event["type"] == "resync":
            await self.load()
        if event.get("sessionId") != self._session or not self._is_after_page(event):
            return
        self._position = event["position"]
        match event["type"]:
            case "message/delta":
                key = event["messageId"], event["index"]
                self._partials[key] = self._partials.get(key, "") + event["text"]
            case "message/added" if event["message"]["parentToolUseId"] is None:
                self._add(event["message"], event["after"])
            case _:
                pass

    def _is_after_page(self, event: Event) -> bool:
        """Events of before the page that was loaded last are in it."""
        return int(event["position"].split(":")[1]) > int(self._position.split(":")[1])

    def _add(self, message: Any, after: str | None) -> None:
        uuids = [each["uuid"] for each in self.messages]
        if message["uuid"] in uuids:
            index = uuids.index(message["uuid"])
            if after is None:
                self.messages[index] = message
                return
            del self.messages[index], uuids[index]
        self.messages.insert(uuids.index(after) + 1 if after in uuids else len(uuids), message)
        if message["kind"] == "reply" and text_of(message) and message["model"] != "<synthetic>":
            pieces = [
                text
                for (message_id, _), text in self._partials.items()
                if message_id == message["messageId"]
            ]
            assert text_of(message) in pieces, "the pieces are not the text"
