"""What turns used whose keeper was killed: reckoned from their transcripts, at list prices."""

from __future__ import annotations

import asyncio

from claudekeeper.dispatch.conversation_state import ConversationState
from claudekeeper.dispatch.session_reader import SessionReader
from claudekeeper.dispatch.store import ConversationRecord, ConversationStore


class KilledTurnUsage:
    def __init__(
        self, book: ConversationStore, sessions: SessionReader, threads: ConversationState
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
