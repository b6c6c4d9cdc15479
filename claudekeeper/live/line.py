"""Messages that stand in line while a turn runs."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, Literal

import msgspec

from claudekeeper.live.bus import Bus
from claudekeeper.model.errors import MessageNotFound, MessageTaken
from claudekeeper.model.events import Queued, QueueState, QueueUpdated

REMEMBERED = 1_000

Content = str | list[dict[str, Any]]


class Item(msgspec.Struct):
    """A message that somebody sent, as the CLI will get it."""

    uuid: str
    content: Content

    @property
    def text(self) -> str:
        if isinstance(self.content, str):
            return self.content
        texts = [block.get("text", "") for block in self.content if block.get("type") == "text"]
        return "\n".join(texts)

    @property
    def images(self) -> int:
        if isinstance(self.content, str):
            return 0
        return sum(block.get("type") != "text" for block in self.content)

    def shown(self, state: QueueState) -> Queued:
        return Queued(self.uuid, self.text, state, self.images)


class Line:
    """First come, first served; each can be taken back until it is taken."""

    def __init__(self, session_id: str, bus: Bus) -> None:
        self._session_id = session_id
        self._bus = bus
        self._waiting: deque[Item] = deque()
        self._filled = asyncio.Event()
        self._held = False
        # by uuid: what became of those that were once here
        self._gone: dict[str, Literal["taken", "cancelled", "lost"]] = {}
        # the one whose turn it is
        self.taken: Item | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    def knows(self, uuid: str) -> bool:
        """Whether it waits or had its turn; what was taken back or lost may come again."""
        return self._gone.get(uuid) == "taken" or any(item.uuid == uuid for item in self._waiting)

    @property
    def shown(self) -> list[Queued]:
        return [item.shown("queued") for item in self._waiting]

    @property
    def waiting(self) -> list[Item]:
        return list(self._waiting)

    @property
    def ready(self) -> bool:
        """Whether the first may be taken."""
        return bool(self._waiting) and not self._held

    def hold(self) -> None:
        """Nobody is taken any more: the keeper ends."""
        self._held = True
        self._filled.clear()

    def add(self, item: Item) -> None:
        self._waiting.append(item)
        if not self._held:
            self._filled.set()
        self._tell()

    async def filled(self) -> None:
        await self._filled.wait()

    def take(self) -> Item:
        item = self._waiting.popleft()
        self.taken = item
        self._leave(item, "taken")
        return item

    def done(self, *, lost: bool) -> None:
        """The turn of the one that was taken is over; `lost`: no transcript has it."""
        if self.taken is not None and lost:
            self._gone[self.taken.uuid] = "lost"
        self.taken = None

    def take_back(self, uuid: str) -> None:
        for item in self._waiting:
            if item.uuid == uuid:
                self._waiting.remove(item)
                self._leave(item, "cancelled")
                return
        gone = self._gone.get(uuid)
        if gone is None:
            raise MessageNotFound("No message with this uuid waits in line.")
        raise MessageTaken("It was taken back already." if gone == "cancelled" else None)

    def clear(self) -> None:
        while self._waiting:
            self.take_back(self._waiting[0].uuid)

    def _leave(self, item: Item, state: Literal["taken", "cancelled"]) -> None:
        if not self._waiting:
            self._filled.clear()
        self._gone[item.uuid] = state
        while len(self._gone) > REMEMBERED:
            self._gone.pop(next(iter(self._gone)))
        self._tell(item.shown(state))

    def _tell(self, *left: Queued) -> None:
        queue = [*left, *self.shown]
        self._bus.publish(QueueUpdated(session_id=self._session_id, queue=queue))
