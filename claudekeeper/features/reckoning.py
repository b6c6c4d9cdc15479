"""What turns used whose keeper was killed: reckoned from their transcripts, at list prices."""

from __future__ import annotations

import asyncio
from pathlib import Path

from claudekeeper.features.conversation_book import Book, Kept
from claudekeeper.features.succession import MOST_OF_A_TURN, Sessions
from claudekeeper.features.threads import Threads
from claudekeeper.model.entries import Usage, usage_of
from claudekeeper.model.errors import MessageNotFound
from claudekeeper.model.prices import cost_of
from claudekeeper.readers.history import History


class Reckoning:
    def __init__(self, book: Book, sessions: Sessions, threads: Threads) -> None:
        self._book = book
        self._sessions = sessions
        self._threads = threads

    async def complete(self, kept: Kept) -> None:
        """Count what was not counted; called by whoever has the item to himself."""
        for session_id, uuid in await asyncio.to_thread(self._book.unreckoned, kept.item):
            if self._threads.busy(session_id):
                continue  # somebody goes on with it
            tokens, cost = await self._sessions.used_by(session_id, uuid)
            kept.tokens += tokens
            kept.cost += cost
            self._threads.tally["tokens"] += tokens
            await asyncio.to_thread(self._book.reckon, kept, uuid, tokens, cost)


def used_by(history: History, path: Path, session_id: str, uuid: str) -> tuple[int, float]:
    """Blocks. Tokens and dollars of the replies to one prompt; nothing where it does not stand."""
    try:
        history.page(path, session_id, limit=1, before=uuid)
    except MessageNotFound:
        return 0, 0.0
    messages = history.page(path, session_id, limit=MOST_OF_A_TURN).messages
    uuids = [message.uuid for message in messages]
    used: dict[str, tuple[int, float]] = {}
    for message in messages[uuids.index(uuid) + 1 :] if uuid in uuids else []:
        if message.kind == "prompt":
            break
        if message.kind == "reply":
            usage = usage_of(message.usage)
            if usage is not None:
                used[message.message_id or message.uuid] = (
                    _total(usage),
                    cost_of(message.model, usage),
                )
    return sum(tokens for tokens, _ in used.values()), sum(cost for _, cost in used.values())


def _total(usage: Usage) -> int:
    return (
        (usage.input_tokens or 0)
        + (usage.output_tokens or 0)
        + (usage.cache_read_input_tokens or 0)
        + (usage.cache_creation_input_tokens or 0)
    )
