"""Shutdown in order: no new turns, time for those that run, a record of the rest."""

from __future__ import annotations

import asyncio
import contextlib
import logging

from claudekeeper.attention.pending_attention import PendingAttention
from claudekeeper.sessions.manager import SessionManager
from claudekeeper.sessions.recovery.turn_journal import TurnJournal
from claudekeeper.sessions.session_change import SessionChange

log = logging.getLogger(__name__)


class Shutdown:
    """Used once, when the keeper is to end."""

    def __init__(
        self, manager: SessionManager, attention: PendingAttention, journal: TurnJournal
    ) -> None:
        self._manager = manager
        self._attention = attention
        self._journal = journal
        self._session_changed = asyncio.Event()

    def handle_session_change(self, _change: SessionChange) -> None:
        self._session_changed.set()

    async def drain(self, seconds: float) -> None:
        """Wait for turns that can end by themselves; what is left is written down."""
        self._manager.stop_new_turns()
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    while self._turns_run:
                        self._session_changed.clear()
                        await self._session_changed.wait()
        finally:
            await self._journal.close()

    @property
    def _turns_run(self) -> bool:
        # who waits for a person is not going to end by itself
        return any(
            session.turns.current is not None and not self._attention.blocking(session.id)
            for session in self._manager.all()
        )
