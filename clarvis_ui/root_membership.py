"""Which sessions lie inside the allowed roots, by their directories.

A session whose directory is not known yet is hidden.
"""

from __future__ import annotations

import asyncio
import time
from enum import Enum

import msgspec

from .keeper_client import KeeperClient, KeeperRefusal
from .roots import Roots

# after this a directory is checked again, as directories move and links change
CACHE_SECONDS = 10.0
MAX_CACHED = 4096


class ListedSession(msgspec.Struct, frozen=True):
    """The field of a session or directory that the roots need."""

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
        cached = self._cache.get(session_id)
        if cached is not None and time.monotonic() < cached.expires:
            return cached.membership
        try:
            answer = await self._keeper.read(
                ("sessions", session_id), {"limit": "1"}, SessionAnswer
            )
        except KeeperRefusal as refusal:
            if cached is not None:
                return cached.membership  # a deleted session stays visible to those who saw it
            # only a session that does not exist may be started inside
            return SessionRoots.UNKNOWN if refusal.status == 404 else SessionRoots.OUTSIDE
        return await self.update(session_id, answer.session.workdir)

    async def update(self, session_id: str, workdir: str | None) -> SessionRoots:
        cached = self._cache.get(session_id)
        now = time.monotonic()
        if cached is not None and cached.workdir == workdir and now < cached.expires:
            return cached.membership
        membership = SessionRoots.INSIDE if await self.allows(workdir) else SessionRoots.OUTSIDE
        if len(self._cache) >= MAX_CACHED:
            self._cache.clear()
        self._cache[session_id] = _CachedMembership(now + CACHE_SECONDS, workdir, membership)
        return membership

    async def allows(self, workdir: str | None) -> bool:
        """Whether a directory lies inside the roots, with all links resolved."""
        return await asyncio.to_thread(self._roots.allows, workdir)

    async def filter_rows(self, rows: list[msgspec.Raw]) -> list[msgspec.Raw]:
        """The sessions or working directories of a list that lie inside."""
        workdirs = [msgspec.json.decode(row, type=ListedSession).workdir for row in rows]
        allowed = await asyncio.to_thread(self._roots.filter_allowed, workdirs)
        return [row for row, workdir in zip(rows, workdirs, strict=True) if workdir in allowed]
