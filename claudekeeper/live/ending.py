"""The end of a keeper, in order: no new turns, time for those that run, a record of the rest."""

from __future__ import annotations

import asyncio
import contextlib
import logging

from claudekeeper.live.attention import Desk
from claudekeeper.live.registry import Registry
from claudekeeper.live.unfinished import Records

log = logging.getLogger(__name__)


class Ending:
    """Asked once, when the keeper is told to end."""

    def __init__(self, registry: Registry, desk: Desk, records: Records) -> None:
        self._registry = registry
        self._desk = desk
        self._records = records
        self._moved = asyncio.Event()

    def note(self, _session_id: str) -> None:
        """Something about a session changed."""
        self._moved.set()

    async def drain(self, seconds: float) -> None:
        """Wait for turns that can end by themselves; what is left is written down."""
        self._registry.take_no_more()
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    while self._at_work:
                        self._moved.clear()
                        await self._moved.wait()
        finally:
            await self._records.freeze()

    @property
    def _at_work(self) -> bool:
        # who waits for a person is not going to end by itself
        return any(
            session.turns.current is not None and not self._desk.of_turn(session.id)
            for session in self._registry.all()
        )
