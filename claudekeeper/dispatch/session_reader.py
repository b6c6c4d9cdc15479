"""What conversations read of sessions: whether they exist, what was written, what a turn used."""

from __future__ import annotations

import asyncio
from collections import deque
from itertools import takewhile
from pathlib import Path

import msgspec

from claudekeeper.analysis.prices import cost_of
from claudekeeper.analysis.summary import SYNTHETIC_MODEL
from claudekeeper.catalog.catalog import Catalog
from claudekeeper.contract.errors import MessageNotFound
from claudekeeper.contract.message import Message
from claudekeeper.sessions.recovery.turn_journal import TurnJournal
from claudekeeper.sessions.session_view import SessionViews
from claudekeeper.transcripts.entries import blocks_of, usage_of
from claudekeeper.transcripts.history import History

# more than a model's window holds
MAX_MESSAGES = 10_000
# messages after a prompt that are read for the replies to it
MAX_TURN_MESSAGES = 2_000


class LastMessages(msgspec.Struct, frozen=True):
    """The last messages of a session as (author, text), and how many it has in all."""

    messages: list[tuple[str, str]]
    total: int


class SessionReader:
    """Reads in threads; a session without a readable transcript has no messages."""

    def __init__(
        self, catalog: Catalog, history: History, views: SessionViews, journal: TurnJournal
    ) -> None:
        self._catalog = catalog
        self._history = history
        self._views = views
        self._journal = journal

    async def exists(self, session_id: str) -> bool:
        """Whether the session has a transcript."""
        return await self._catalog.row(session_id) is not None

    async def count_messages(self, session_id: str) -> None:
        """Brings the catalog's count of messages up to date."""
        row = await self._catalog.row(session_id)
        if row is not None:
            await self._catalog.scan_if_small(row)

    def message_count(self, session_id: str) -> int | None:
        """How many messages the session has; None while they are not counted."""
        session = self._views.session(session_id)
        return session.message_count if session is not None else None

    async def last_messages(self, session_id: str, limit: int, room: int) -> LastMessages:
        """At most `limit` messages, and not many more bytes than `room`."""
        path = await self._readable_path(session_id)
        if path is None:
            return LastMessages([], 0)
        return await asyncio.to_thread(self._read_last_messages, path, session_id, limit, room)

    async def reply_to(self, session_id: str, uuid: str) -> str | None:
        """The last reply to a prompt; None where the transcript does not have the prompt."""
        messages = await self._turn_messages(session_id, uuid)
        if messages is None:
            return None
        texts: dict[str, list[str]] = {}
        for message in messages:
            blocks = blocks_of(message.content) if _is_reply_of_claude(message) else []
            if parts := [block.text for block in blocks if block.text]:
                texts.setdefault(message.message_id or message.uuid, []).extend(parts)
        return "\n".join(list(texts.values())[-1]) if texts else ""

    async def usage_of_prompt(self, session_id: str, uuid: str) -> tuple[int, float]:
        """Tokens and dollars of the replies to a prompt, at list prices."""
        used: dict[str, tuple[int, float]] = {}
        for message in await self._turn_messages(session_id, uuid) or []:
            usage = usage_of(message.usage) if message.kind == "reply" else None
            if usage is not None:
                cost = cost_of(message.model, usage)
                used[message.message_id or message.uuid] = usage.total, cost
        return sum(tokens for tokens, _ in used.values()), sum(cost for _, cost in used.values())

    def forget_interrupted(self, session_id: str) -> None:
        """The interrupted turn of this session will not be continued."""
        self._journal.forget(session_id)
        self._views.publish_row_change(session_id)

    async def _readable_path(self, session_id: str) -> Path | None:
        row = await self._catalog.row(session_id)
        return Path(row.file.path) if row is not None and row.fault is None else None

    async def _turn_messages(self, session_id: str, uuid: str) -> list[Message] | None:
        """What follows a prompt, up to the next one; None where there is no such prompt."""
        path = await self._readable_path(session_id)
        if path is None:
            return None
        return await asyncio.to_thread(self._read_turn, path, session_id, uuid)

    def _read_turn(self, path: Path, session_id: str, uuid: str) -> list[Message] | None:
        try:
            self._history.page(path, session_id, limit=1, before=uuid)
        except MessageNotFound:
            return None
        messages = iter(self._history.page(path, session_id, limit=MAX_TURN_MESSAGES).messages)
        if all(message.uuid != uuid for message in messages):
            return []
        return list(takewhile(lambda message: message.kind != "prompt", messages))

    def _read_last_messages(
        self, path: Path, session_id: str, limit: int, room: int
    ) -> LastMessages:
        """Prompts and replies, without calls and their results, compacted or not."""
        page = self._history.page(path, session_id, limit=MAX_MESSAGES)
        last: deque[tuple[str, str]] = deque()
        total = 0
        for message in reversed(page.messages):
            if message.kind != "prompt" and not _is_reply_of_claude(message):
                continue
            blocks = blocks_of(message.content)
            text = "\n".join(block.text for block in blocks if block.text).strip()
            if not text:
                continue
            total += 1
            if total <= limit and room >= 0:
                room -= len(text.encode())
                last.appendleft(("Claude" if message.kind == "reply" else "User", text))
        return LastMessages(list(last), total)


def _is_reply_of_claude(message: Message) -> bool:
    """A reply, and none that the CLI made up for a turn that was cut off."""
    return message.kind == "reply" and message.model != SYNTHETIC_MODEL
