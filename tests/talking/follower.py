"""A client that keeps a conversation by the contract: a page, events, a page after `resync`."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.talking.keeper import Ear, Event, Keeper, text_of


class Follower:
    """Its `messages` are to be the history, whenever it began and however often it was away."""

    def __init__(self, keeper: Keeper, session: str) -> None:
        self._keeper = keeper
        self._session = session
        self.messages: list[Any] = []
        self._position = ""
        self._streamed: dict[tuple[str, int], str] = {}
        self._ear: Ear | None = None
        self._reading: asyncio.Task[None] | None = None

    async def load(self) -> None:
        page = await self._keeper.get(f"/sessions/{self._session}?limit=1000")
        self.messages = page["messages"]
        self._position = page["position"]
        self._streamed = {}
        if (partial := page["partial"]) is not None:
            self._streamed[partial["messageId"], partial["index"]] = partial["text"]

    async def join(self) -> None:
        """Also after having been away: from where it was."""
        if not self._position:
            await self.load()
        ear = self._ear = await self._keeper.listen(self._session, since=self._position)
        if ear.heard[-1]["type"] == "resync":
            await self.load()
        self._reading = asyncio.get_running_loop().create_task(self._read(ear))

    async def leave(self) -> None:
        if self._ear is not None and self._reading is not None:
            await self._hear_out()
            self._reading.cancel()
            await asyncio.wait([self._reading])
            await self._ear.close()
        self._ear = self._reading = None

    async def catch_up(self) -> None:
        """Until everything that was told so far is known."""
        if self._reading is None:
            await self.join()
        await self._hear_out()

    async def _hear_out(self) -> None:
        assert self._ear is not None
        assert self._reading is not None
        await self._ear.say({"type": "ping"})
        await self._reading
        self._reading = asyncio.get_running_loop().create_task(self._read(self._ear))

    async def _read(self, ear: Ear) -> None:
        while (event := await ear.next())["type"] != "pong":
            await self._apply(event)

    async def _apply(self, event: Event) -> None:
        if event["type"] == "resync":
            await self.load()
        if event.get("sessionId") != self._session or not self._is_news(event):
            return
        self._position = event["position"]
        match event["type"]:
            case "message/delta":
                key = event["messageId"], event["index"]
                self._streamed[key] = self._streamed.get(key, "") + event["text"]
            case "message/added" if event["message"]["parentToolUseId"] is None:
                self._add(event["message"], event["after"])
            case _:
                pass

    def _is_news(self, event: Event) -> bool:
        """Events of before the page that was loaded last are in it."""
        return int(event["position"].split(":")[1]) > int(self._position.split(":")[1])

    def _add(self, message: Any, after: str | None) -> None:
        uuids = [each["uuid"] for each in self.messages]
        if message["uuid"] in uuids:
            place = uuids.index(message["uuid"])
            if after is None:
                self.messages[place] = message
                return
            del self.messages[place], uuids[place]
        self.messages.insert(uuids.index(after) + 1 if after in uuids else len(uuids), message)
        if message["kind"] == "reply" and text_of(message) and message["model"] != "<synthetic>":
            pieces = [
                text
                for (message_id, _), text in self._streamed.items()
                if message_id == message["messageId"]
            ]
            assert text_of(message) in pieces, "the pieces are not the text"
