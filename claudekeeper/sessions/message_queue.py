"""The message queue of a session: what waits while a turn runs."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Container
from typing import Any, Literal

import msgspec

from claudekeeper.contract.errors import MessageNotFound, MessageTaken
from claudekeeper.contract.events import QueuedPrompt, QueueState, QueueUpdated
from claudekeeper.events.bus import EventBus

MAX_REMOVED = 1_000

Content = str | list[dict[str, Any]]


class QueuedMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    """A message that somebody sent, as the CLI will get it."""

    uuid: str
    content: Content
    # a person interrupted the turn before it: it waits until somebody releases it
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
    def image_count(self) -> int:
        if isinstance(self.content, str):
            return 0
        return sum(block.get("type") != "text" for block in self.content)

    def to_queued_prompt(self, state: QueueState | None = None) -> QueuedPrompt:
        """`state`: what became of it, where it waits no more."""
        waits: QueueState = "held" if self.held else "queued"
        return QueuedPrompt(self.uuid, self.text, state or waits, self.image_count)


class MessageQueue:
    """First come, first served, but for those that are held; each can be taken back until it is
    taken."""

    def __init__(self, session_id: str, bus: EventBus) -> None:
        self._session_id = session_id
        self._bus = bus
        self._messages: deque[QueuedMessage] = deque()
        self._ready_event = asyncio.Event()
        self._is_stopped = False
        # by uuid: what became of those that were once here
        self._removed: dict[str, Literal["taken", "cancelled", "lost"]] = {}
        # the one whose turn it is
        self.current: QueuedMessage | None = None

    def __len__(self) -> int:
        """How many will be sent by themselves; held messages are not counted."""
        return sum(not item.held for item in self._messages)

    def has_message(self, uuid: str) -> bool:
        """Whether it waits or had its turn; what was taken back or lost may come again."""
        return self._removed.get(uuid) == "taken" or any(
            item.uuid == uuid for item in self._messages
        )

    @property
    def queued_prompts(self) -> list[QueuedPrompt]:
        return [item.to_queued_prompt() for item in self._messages]

    @property
    def messages(self) -> list[QueuedMessage]:
        """All of them, those that are held too."""
        return list(self._messages)

    @property
    def is_ready(self) -> bool:
        """Whether one may be taken."""
        return len(self) > 0 and not self._is_stopped

    def stop(self) -> None:
        """The keeper ends."""
        self._is_stopped = True
        self._update_ready()

    def push(self, item: QueuedMessage, *, first: bool = False) -> None:
        """`first`: before all that wait already."""
        if first:
            self._messages.appendleft(item)
        else:
            self._messages.append(item)
        self._update_ready()
        self._publish()

    def hold(self) -> int:
        """Nothing that waits now is sent by itself; returns how many are held."""
        self._set_held([item for item in self._messages if not item.held], True)
        return len(self._messages)

    def release(self, uuids: Container[str] | None = None) -> list[str]:
        """What is held waits for its turn again, in its place; the uuids of those that do."""
        items = [item for item in self._messages if item.held]
        return self._set_held(
            [each for each in items if uuids is None or each.uuid in uuids], False
        )

    def _set_held(self, items: list[QueuedMessage], held: bool) -> list[str]:
        uuids = [item.uuid for item in items]
        if uuids:
            self._messages = deque(
                msgspec.structs.replace(each, held=held) if each.uuid in uuids else each
                for each in self._messages
            )
            self._update_ready()
            self._publish()
        return uuids

    async def wait_until_ready(self) -> None:
        await self._ready_event.wait()

    def pop(self) -> QueuedMessage:
        item = next(each for each in self._messages if not each.held)
        self._messages.remove(item)
        self.current = item
        self._mark_removed(item, "taken")
        return item

    def finish_current(self, *, lost: bool) -> None:
        """The turn of the one that was taken is over; `lost`: no transcript has it."""
        if self.current is not None and lost:
            self._removed[self.current.uuid] = "lost"
        self.current = None

    def withdraw(self, uuid: str) -> None:
        for item in self._messages:
            if item.uuid == uuid:
                self._messages.remove(item)
                self._mark_removed(item, "cancelled")
                return
        gone = self._removed.get(uuid)
        if gone is None:
            raise MessageNotFound("No message with this uuid waits in line.")
        if gone == "cancelled":
            # whoever has its words may send it again
            raise MessageTaken("It was taken back already.", choices=("send",))
        raise MessageTaken

    def clear(self) -> None:
        while self._messages:
            self.withdraw(self._messages[0].uuid)

    def _update_ready(self) -> None:
        if self.is_ready:
            self._ready_event.set()
        else:
            self._ready_event.clear()

    def _mark_removed(self, item: QueuedMessage, state: Literal["taken", "cancelled"]) -> None:
        self._update_ready()
        self._removed[item.uuid] = state
        while len(self._removed) > MAX_REMOVED:
            self._removed.pop(next(iter(self._removed)))
        self._publish(item.to_queued_prompt(state))

    def _publish(self, *removed: QueuedPrompt) -> None:
        queue = [*removed, *self.queued_prompts]
        self._bus.publish(QueueUpdated(session_id=self._session_id, queue=queue))
