"""The usage of turns whose keeper was killed, counted from their transcripts."""

from __future__ import annotations

import asyncio

from claudekeeper.dispatch.conversation_state import ConversationState
from claudekeeper.dispatch.record import ConversationRecord
from claudekeeper.dispatch.session_reader import SessionReader
from claudekeeper.dispatch.store import ConversationStore


class KilledTurnUsage:
    """Adds what such turns used to the conversations of their items."""

    def __init__(
        self, store: ConversationStore, sessions: SessionReader, state: ConversationState
    ) -> None:
        self._store = store
        self._sessions = sessions
        self._state = state

    async def add_missing_usage(self, record: ConversationRecord) -> None:
        """Counts the dispatches without an outcome; the caller holds the lock of the item."""
        for session_id, uuid in await asyncio.to_thread(
            self._store.uncounted_dispatches, record.item
        ):
            if self._state.is_busy(session_id):
                continue  # a person continues the turn
            tokens, cost = await self._sessions.usage_of_prompt(session_id, uuid)
            record.tokens += tokens
            record.cost += cost
            self._state.counters["tokens"] += tokens
            await asyncio.to_thread(self._store.record_usage, record, uuid, tokens, cost)
