"""Messages that stand in line while a turn runs."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Container
from typing import Any, Literal

import msgspec

from claudekeeper.live.bus import Bus
from claudekeeper.model.errors import MessageNotFound, MessageTaken
from claudekeeper.model.events import Queued, QueueState, QueueUpdated

REMEMBERED = 1_000

Content = str | list[dict[str, Any]]


class Item(msgspec.Struct, frozen=True, omit_defaults=True):
    """A message that somebody sent, as the CLI will get it."""

    uuid: str
    content: Content
    # a person stopped what it waited for: it is said once somebody sends it on
    held: bool = False

    @property
    def text(self) -> str:
        if isinstance(self.content, str):
            return self.content
        texts = [block.get("text", "") for block in self.content if block.get("type") == "text"]
        return "\n".join(texts)

    @property
    def blocks(self) -> list[dict[str, Any]]:
        if isinstance(self.content, str):
            return [{"type": "text", "text": self.content}]
        return self.content

    @property
    def images(self) -> int:
        if isinstance(self.content, str):
            return 0
        return sum(block.get("type") != "text" for block in self.content)

    def shown(self, state: QueueState | None = None) -> Queued:
        """`state`: what became of it, where it waits no more."""
        waits: QueueState = "held" if self.held else "queued"
        return Queued(self.uuid, self.text, state or waits, self.images)


class Line:
    """First come, first served, but for those that are held; each can be taken back until it is
    taken."""

    def __init__(self, session_id: str, bus: Bus) -> None:
        self._session_id = session_id
        self._bus = bus
        self._waiting: deque[Item] = deque()
        self._filled = asyncio.Event()
        self._stopping = False
        # by uuid: what became of those that were once here
        self._gone: dict[str, Literal["taken", "cancelled", "lost"]] = {}
        # the one whose turn it is
        self.taken: Item | None = None

    def __len__(self) -> int:
        """How many will be said by themselves."""
        return sum(not item.held for item in self._waiting)

    def knows(self, uuid: str) -> bool:
        """Whether it waits or had its turn; what was taken back or lost may come again."""
        return self._gone.get(uuid) == "taken" or any(item.uuid == uuid for item in self._waiting)

    @property
    def shown(self) -> list[Queued]:
        return [item.shown() for item in self._waiting]

    @property
    def waiting(self) -> list[Item]:
        """All of them, those that are held too."""
        return list(self._waiting)

    @property
    def ready(self) -> bool:
        """Whether one may be taken."""
        return len(self) > 0 and not self._stopping

    def take_no_more(self) -> None:
        """The keeper ends."""
        self._stopping = True
        self._changed()

    def add(self, item: Item, *, first: bool = False) -> None:
        """`first`: it is said before all that wait already."""
        if first:
            self._waiting.appendleft(item)
        else:
            self._waiting.append(item)
        self._changed()
        self._tell()

    def hold(self) -> int:
        """Nothing of what waits now is said by itself; how many are held then."""
        self._replace([item for item in self._waiting if not item.held], True)
        return len(self._waiting)

    def send_on(self, uuids: Container[str] | None = None) -> list[str]:
        """What is held waits for its turn again, in its place; the uuids of those that do."""
        items = [item for item in self._waiting if item.held]
        return self._replace([each for each in items if uuids is None or each.uuid in uuids], False)

    def _replace(self, items: list[Item], held: bool) -> list[str]:
        uuids = [item.uuid for item in items]
        if uuids:
            self._waiting = deque(
                msgspec.structs.replace(each, held=held) if each.uuid in uuids else each
                for each in self._waiting
            )
            self._changed()
            self._tell()
        return uuids

    async def filled(self) -> None:
        await self._filled.wait()

    def take(self) -> Item:
        item = next(each for each in self._waiting if not each.held)
        self._waiting.remove(item)
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
        if gone == "cancelled":
            # whoever has its words may send it again
            raise MessageTaken("It was taken back already.", choices=("send",))
        raise MessageTaken

    def clear(self) -> None:
        while self._waiting:
            self.take_back(self._waiting[0].uuid)

    def _changed(self) -> None:
        if self.ready:
            self._filled.set()
        else:
            self._filled.clear()

    def _leave(self, item: Item, state: Literal["taken", "cancelled"]) -> None:
        self._changed()
        self._gone[item.uuid] = state
        while len(self._gone) > REMEMBERED:
            self._gone.pop(next(iter(self._gone)))
        self._tell(item.shown(state))

    def _tell(self, *left: Queued) -> None:
        queue = [*left, *self.shown]
        self._bus.publish(QueueUpdated(session_id=self._session_id, queue=queue))
