"""How many CLIs may run at once, and who may have one."""

from __future__ import annotations

import asyncio
from typing import Protocol

from claudekeeper.contract.errors import KeeperBusy


class SlotHolder(Protocol):
    """A session, as far as its CLI is concerned."""

    last_used: float

    @property
    def holds_slot(self) -> bool:
        """Whether it has a CLI, or is about to start one."""

    @property
    def can_release_cli(self) -> bool:
        """Whether its CLI can be ended without anybody noticing."""

    @property
    def is_busy(self) -> bool:
        """Whether it has, or is about to have, a CLI that may not be ended."""

    async def release_cli(self) -> None:
        """Ends its CLI; it comes back with the next message."""


class CliSlots:
    """The slots of one keeper, and the sessions that share them."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._sessions: list[SlotHolder] = []
        self._changed = asyncio.Event()

    def add(self, session: SlotHolder) -> None:
        self._sessions.append(session)

    def remove(self, session: SlotHolder) -> None:
        self._sessions.remove(session)

    @property
    def used_count(self) -> int:
        """How many CLIs run or start."""
        return sum(session.holds_slot for session in self._sessions)

    def notify_changed(self) -> None:
        """A slot may be free now."""
        self._changed.set()

    async def wait_for_slot(self, session: SlotHolder) -> None:
        """Returns when `session` may start a CLI; the idle CLI used least recently makes room."""
        while True:
            others = [each for each in self._others(session) if each.holds_slot]
            if len(others) < self._limit:
                return
            idle = [each for each in others if each.can_release_cli]
            if idle:
                await min(idle, key=lambda each: each.last_used).release_cli()
                continue
            self._changed.clear()
            await self._changed.wait()

    def check_free(self, session: SlotHolder | None) -> None:
        """Refuses where every slot is taken by a session that works, waits or is about to."""
        busy = [each for each in self._others(session) if each.is_busy]
        if len(busy) >= self._limit and not (session and session.holds_slot):
            raise KeeperBusy

    def _others(self, session: SlotHolder | None) -> list[SlotHolder]:
        return [each for each in self._sessions if each is not session]
