"""A reply while it is written: pieces of text, joined to what a browser can draw."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from claudekeeper.contract.events import DeltaKind, MessageDelta, MessageWithdrawn, PartialBlock
from claudekeeper.events.bus import EventBus

FRAME_SECONDS = 1 / 60

_DELTA_KINDS: dict[str, tuple[DeltaKind, str]] = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "input_json_delta": ("input", "partial_json"),
}
_BLOCK_KINDS: dict[str, DeltaKind] = {
    "text": "text",
    "thinking": "thinking",
    "tool_use": "input",
    "server_tool_use": "input",
}


class ReplyStream:
    """The block that is being written. A delta is published at once after a pause, else joined."""

    def __init__(self, session_id: str, bus: EventBus, frame: float = FRAME_SECONDS) -> None:
        self._session_id = session_id
        self._bus = bus
        self._frame_seconds = frame
        self._message_id = ""
        self._block: PartialBlock | None = None
        # as pieces: a long reply is not copied with every delta
        self._published: list[str] = []
        self._pending: list[str] = []
        # blocks that were withdrawn since the last message: of words that never come whole these
        # are all there is
        self._withdrawn: list[PartialBlock] = []
        self._last_flush = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def partial(self) -> PartialBlock | None:
        """The block as far as it was published; None between blocks."""
        if self._block is None or not self._published:
            return None
        self._published = ["".join(self._published)]
        self._block.text = self._published[0]
        return self._block

    @property
    def unfinished_blocks(self) -> list[PartialBlock]:
        """What was streamed and is part of no message."""
        self.flush()
        now = [msgspec.structs.replace(self.partial)] if self.partial is not None else []
        ahead = [
            each for each in self._withdrawn if not any(_is_superseded(each, by) for by in now)
        ]
        return [*ahead, *now]

    def clear_withdrawn(self) -> None:
        """A message came: it has what was begun and withdrawn before it."""
        self._withdrawn.clear()

    def handle_stream_event(self, event: dict[str, Any]) -> None:
        match event.get("type"):
            case "message_start":
                # the block before never came to its end: the API was called again
                self.withdraw_block()
                self._message_id = str(event.get("message", {}).get("id", ""))
            case "content_block_start":
                self._begin_block(event)
            case "content_block_delta":
                self._add_delta(event.get("delta", {}))
            case "content_block_stop":
                self.flush()
            case _:
                pass

    def flush(self) -> None:
        """Publish what is pending: another event is about to be published."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._pending or self._block is None:
            return
        text = "".join(self._pending)
        self._pending.clear()
        self._published.append(text)
        self._last_flush = asyncio.get_running_loop().time()
        block = self._block
        self._bus.publish(
            MessageDelta(
                session_id=self._session_id,
                message_id=block.message_id,
                index=block.index,
                kind=block.kind,
                text=text,
                tool=block.tool,
                tool_use_id=block.tool_use_id,
            )
        )

    def end_block(self, message_id: str | None = None) -> None:
        """The block is whole: its message follows, unless `message_id` is another one."""
        if self._block is not None and message_id not in (None, self._block.message_id):
            self.withdraw_block()
        self.flush()
        self._block = None
        self._published = []

    def withdraw_block(self) -> None:
        """The deltas of this block are no part of the conversation."""
        pending = "".join(self._pending)
        self._pending.clear()
        self.flush()
        block, published = self.partial, self._published
        self._block, self._published = None, []
        if block is not None and published:
            self._add_withdrawn(msgspec.structs.replace(block, text=block.text + pending))
            self._bus.publish(
                MessageWithdrawn(
                    session_id=self._session_id, message_id=block.message_id, index=block.index
                )
            )

    def _add_withdrawn(self, block: PartialBlock) -> None:
        """Of several attempts at the same words, the one that came furthest."""
        if not any(_is_superseded(block, by) for by in self._withdrawn):
            others = [each for each in self._withdrawn if not _is_superseded(each, block)]
            self._withdrawn = [*others, block]

    def _begin_block(self, event: dict[str, Any]) -> None:
        self.flush()
        if self.partial is not None:
            # its message comes a moment later, if it comes
            self._add_withdrawn(msgspec.structs.replace(self.partial))
        self.end_block()
        block = event.get("content_block", {})
        kind = _BLOCK_KINDS.get(block.get("type", ""))
        if kind is not None:
            self._block = PartialBlock(
                message_id=self._message_id,
                index=int(event.get("index", 0)),
                kind=kind,
                text="",
                tool=block.get("name"),
                tool_use_id=block.get("id"),
            )

    def _add_delta(self, delta: dict[str, Any]) -> None:
        kind, field = _DELTA_KINDS.get(delta.get("type", ""), (None, ""))
        text = delta.get(field)
        if kind is None or self._block is None or not isinstance(text, str) or not text:
            return
        self._pending.append(text)
        if self._timer is not None:
            return
        loop = asyncio.get_running_loop()
        wait = self._last_flush + self._frame_seconds - loop.time()
        if wait <= 0:
            self.flush()
        else:
            self._timer = loop.call_later(wait, self.flush)


def _is_superseded(block: PartialBlock, by: PartialBlock) -> bool:
    """Whether the other one is another attempt at the same words, and came as far."""
    again = block.kind == by.kind and block.message_id != by.message_id
    return again and len(block.text) <= len(by.text)
