"""Which sessions lie within the allowed roots: learned from what the keeper says, or asked for.

A session that nobody knows yet is hidden until somebody does: it has no directory to judge by.
"""

from __future__ import annotations

import asyncio
import time
from enum import Enum

import msgspec

from .keeper_client import KeeperClient, KeeperRefusal
from .roots import Roots

# directories move and links change: what was judged is judged again after this
CACHE_SECONDS = 10.0
MOST_CACHED = 4096


class ListedSession(msgspec.Struct, frozen=True):
    """As much of a session or a directory as the roots need; the rest is passed on as it came."""

    workdir: str | None = None


class SessionAnswer(msgspec.Struct):
    session: ListedSession


class SessionRoots(Enum):
    INSIDE = "inside"
    OUTSIDE = "outside"
    UNKNOWN = "unknown"


class _CachedMembership(msgspec.Struct, frozen=True):
    expires: float
    workdir: str | None
    membership: SessionRoots


class RootMembership:
    def __init__(self, keeper: KeeperClient, roots: Roots) -> None:
        self._keeper = keeper
        self._roots = roots
        self._cache: dict[str, _CachedMembership] = {}

    async def find(self, session_id: str) -> SessionRoots:
        known = self._cache.get(session_id)
        if known is not None and time.monotonic() < known.expires:
            return known.membership
        found = await self._keeper.read(("sessions", session_id), {"limit": "1"}, SessionAnswer)
        if isinstance(found, KeeperRefusal):
            if known is not None:
                return known.membership  # it is gone; that much may be told to those who saw it
            # only a session that is not there may become one of ours by being started
            return SessionRoots.UNKNOWN if found.status == 404 else SessionRoots.OUTSIDE
        return await self.update(session_id, found.session.workdir)

    async def update(self, session_id: str, workdir: str | None) -> SessionRoots:
        known = self._cache.get(session_id)
        now = time.monotonic()
        if known is not None and known.workdir == workdir and now < known.expires:
            return known.membership
        where = SessionRoots.INSIDE if await self.allows(workdir) else SessionRoots.OUTSIDE
        if len(self._cache) >= MOST_CACHED:
            self._cache.clear()
        self._cache[session_id] = _CachedMembership(now + CACHE_SECONDS, workdir, where)
        return where

    async def allows(self, workdir: str | None) -> bool:
        """Whether a directory lies within the roots, wherever a link in it leads."""
        return await asyncio.to_thread(self._roots.allows, workdir)

    async def filter_rows(self, rows: list[msgspec.Raw]) -> list[msgspec.Raw]:
        """Those of a list of sessions or working directories that may be shown."""
        workdirs = [msgspec.json.decode(row, type=ListedSession).workdir for row in rows]
        allowed = await asyncio.to_thread(self._roots.filter_allowed, workdirs)
        return [row for row, workdir in zip(rows, workdirs, strict=True) if workdir in allowed]
