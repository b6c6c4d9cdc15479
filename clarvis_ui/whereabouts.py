"""Which sessions lie within the allowed roots: learned from what the keeper says, or asked for.

A session that nobody knows yet is hidden until somebody does: it has no directory to judge by.
"""

from __future__ import annotations

import asyncio
import time
from enum import Enum

import msgspec

from .keeper import Keeper, Refusal
from .roots import Roots

# directories move and links change: what was judged is judged again after this
REMEMBERED_FOR = 10.0
REMEMBERED = 4096


class Row(msgspec.Struct, frozen=True):
    """As much of a session or a directory as the roots need; the rest is passed on as it came."""

    workdir: str | None = None


class OneSession(msgspec.Struct):
    session: Row


class Where(Enum):
    INSIDE = "inside"
    OUTSIDE = "outside"
    UNKNOWN = "unknown"


class _Judged(msgspec.Struct, frozen=True):
    until: float
    workdir: str | None
    where: Where


class Whereabouts:
    def __init__(self, keeper: Keeper, roots: Roots) -> None:
        self._keeper = keeper
        self._roots = roots
        self._judged: dict[str, _Judged] = {}

    async def of(self, session_id: str) -> Where:
        known = self._judged.get(session_id)
        if known is not None and time.monotonic() < known.until:
            return known.where
        found = await self._keeper.read(("sessions", session_id), {"limit": "1"}, OneSession)
        if isinstance(found, Refusal):
            if known is not None:
                return known.where  # it is gone; that much may be told to those who saw it
            # only a session that is not there may become one of ours by being started
            return Where.UNKNOWN if found.status == 404 else Where.OUTSIDE
        return await self.learn(session_id, found.session.workdir)

    async def learn(self, session_id: str, workdir: str | None) -> Where:
        known = self._judged.get(session_id)
        now = time.monotonic()
        if known is not None and known.workdir == workdir and now < known.until:
            return known.where
        where = Where.INSIDE if await self.allows(workdir) else Where.OUTSIDE
        if len(self._judged) >= REMEMBERED:
            self._judged.clear()
        self._judged[session_id] = _Judged(now + REMEMBERED_FOR, workdir, where)
        return where

    async def allows(self, workdir: str | None) -> bool:
        """Whether a directory lies within the roots, wherever a link in it leads."""
        return await asyncio.to_thread(self._roots.allows, workdir)

    async def within(self, rows: list[msgspec.Raw]) -> list[msgspec.Raw]:
        """Those of a list of sessions or working directories that may be shown."""
        workdirs = [msgspec.json.decode(row, type=Row).workdir for row in rows]
        allowed = await asyncio.to_thread(self._roots.allowed, workdirs)
        return [row for row, workdir in zip(rows, workdirs, strict=True) if workdir in allowed]
