"""What turns used whose keeper was killed: reckoned from their transcripts, at list prices."""

from __future__ import annotations

import asyncio
from pathlib import Path

from claudekeeper.analysis.prices import cost_of
from claudekeeper.contract.errors import MessageNotFound
from claudekeeper.dispatch.context_window import MOST_TURN_MESSAGES, SessionReaders
from claudekeeper.dispatch.conversation_state import ConversationState
from claudekeeper.dispatch.store import ConversationRecord, ConversationStore
from claudekeeper.transcripts.entries import usage_of
from claudekeeper.transcripts.history import History


class KilledTurnUsage:
    def __init__(
        self, book: ConversationStore, sessions: SessionReaders, threads: ConversationState
    ) -> None:
        self._store = book
        self._sessions = sessions
        self._state = threads

    async def add_missing_usage(self, kept: ConversationRecord) -> None:
        """Count what was not counted; called by whoever has the item to himself."""
        for session_id, uuid in await asyncio.to_thread(
            self._store.uncounted_dispatches, kept.item
        ):
            if self._state.is_busy(session_id):
                continue  # somebody goes on with it
            tokens, cost = await self._sessions.usage_of_prompt(session_id, uuid)
            kept.tokens += tokens
            kept.cost += cost
            self._state.counters["tokens"] += tokens
            await asyncio.to_thread(self._store.record_usage, kept, uuid, tokens, cost)


def read_usage(history: History, path: Path, session_id: str, uuid: str) -> tuple[int, float]:
    """Blocks. Tokens and dollars of the replies to one prompt; nothing where it does not stand."""
    try:
        history.page(path, session_id, limit=1, before=uuid)
    except MessageNotFound:
        return 0, 0.0
    messages = history.page(path, session_id, limit=MOST_TURN_MESSAGES).messages
    uuids = [message.uuid for message in messages]
    used: dict[str, tuple[int, float]] = {}
    for message in messages[uuids.index(uuid) + 1 :] if uuid in uuids else []:
        if message.kind == "prompt":
            break
        if message.kind == "reply":
            usage = usage_of(message.usage)
            if usage is not None:
                used[message.message_id or message.uuid] = (
                    usage.total,
                    cost_of(message.model, usage),
                )
    return sum(tokens for tokens, _ in used.values()), sum(cost for _, cost in used.values())
