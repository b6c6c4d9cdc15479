"""What of the keeper's sessions lies within the allowed roots.

Used only where roots are set; without them the proxy passes everything on untouched.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

import msgspec

from .failures import SessionNotFound
from .keeper import Keeper, Refusal
from .roots import Roots

# a page that the roots thin out is filled up again, but not by reading the whole list at once
ROUNDS = 8
REMEMBERED_FOR = 10.0
REMEMBERED = 1024


class Row(msgspec.Struct):
    """As much of a session or a directory as the roots need; the rest is passed on as it came."""

    workdir: str | None = None


class SessionsPage(msgspec.Struct):
    sessions: list[msgspec.Raw]
    cursor: str | None = None
    position: str | None = None


class WorkdirsPage(msgspec.Struct):
    workdirs: list[msgspec.Raw]


class OneSession(msgspec.Struct):
    session: Row


class Visible:
    def __init__(self, keeper: Keeper, roots: Roots) -> None:
        self._keeper = keeper
        self._roots = roots
        self._remembered: dict[str, tuple[float, bool]] = {}

    async def sessions(self, query: Mapping[str, str]) -> SessionsPage | Refusal:
        """A page of the list: as long as was asked for, where there are that many."""
        asked = dict(query)
        wanted = int(asked["limit"]) if asked.get("limit", "").isdecimal() else None
        page = SessionsPage([])
        for round_number in range(ROUNDS):
            found = await self._keeper.read(("sessions",), asked, SessionsPage)
            if isinstance(found, Refusal):
                return found
            if round_number == 0:
                page.position = found.position  # the earliest: no event is missed in between
            page.sessions += await self._within(found.sessions)
            page.cursor = found.cursor
            missing = (wanted or 1) - len(page.sessions)
            if page.cursor is None or missing <= 0:
                break
            asked["cursor"] = page.cursor
            if wanted is not None:
                asked["limit"] = str(missing)
        return page

    async def workdirs(self, query: Mapping[str, str]) -> WorkdirsPage | Refusal:
        found = await self._keeper.read(("workdirs",), query, WorkdirsPage)
        if isinstance(found, Refusal):
            return found
        return WorkdirsPage(await self._within(found.workdirs))

    async def require(self, session_id: str) -> None:
        """Refuse a session outside with the words of one that does not exist."""
        if not await self._allows(session_id):
            raise SessionNotFound

    async def _allows(self, session_id: str) -> bool:
        now = time.monotonic()
        until, allowed = self._remembered.get(session_id, (0.0, False))
        if now < until:
            return allowed
        found = await self._keeper.read(("sessions", session_id), {"limit": "1"}, OneSession)
        if isinstance(found, Refusal):
            return False
        allowed = await asyncio.to_thread(self._roots.allows, found.session.workdir)
        if len(self._remembered) >= REMEMBERED:
            self._remembered.clear()
        self._remembered[session_id] = now + REMEMBERED_FOR, allowed
        return allowed

    async def _within(self, rows: list[msgspec.Raw]) -> list[msgspec.Raw]:
        workdirs = [msgspec.json.decode(row, type=Row).workdir for row in rows]
        allowed = await asyncio.to_thread(self._roots.allowed, workdirs)
        return [row for row, workdir in zip(rows, workdirs, strict=True) if workdir in allowed]
