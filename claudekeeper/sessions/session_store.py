"""What is on disk of a session: its transcript, and what an earlier keeper left of it."""

from __future__ import annotations

import asyncio
from itertools import islice
from pathlib import Path

from claudekeeper.analysis.recorded_cost import NOTHING, Carried, carried
from claudekeeper.archive.archive import Archive
from claudekeeper.catalog.catalog import Catalog
from claudekeeper.catalog.quick_scan import find_copy_with_message, find_session_of_message
from claudekeeper.contract.errors import TranscriptUnreadable
from claudekeeper.sessions.recovery.turn_journal import TurnJournal
from claudekeeper.transcripts.history import History

# a message that is sent again is looked for among the last messages of its session
RECENT_MESSAGES = 200
# or at the beginning of this many sessions of its directory, out of so many newest ones
RECENT_SESSIONS = 20
MAX_EXAMINED = 500


class SessionStore:
    """Questions about sessions that no live session answers."""

    def __init__(
        self, catalog: Catalog, history: History, archive: Archive, journal: TurnJournal
    ) -> None:
        self._catalog = catalog
        self._history = history
        self._archive = archive
        self._journal = journal

    async def find_workdir(self, session_id: str) -> str | None:
        """The working directory of a session with a transcript; None when there is none.

        A transcript that only the archive has is put back: Claude Code reads no other place.
        """
        row = await self._catalog.row(session_id)
        if row is not None and self._archive.is_archived(row):
            await asyncio.to_thread(self._archive.restore, session_id)
            row = await self._catalog.row(session_id)
        if row is None:
            return None
        if row.fault is not None:
            # Claude Code cannot read it either: it would end without a word
            raise TranscriptUnreadable(f"{row.fault.message} Claude Code cannot go on with it.")
        return row.summary.workdir or str(Path.home())

    async def exists(self, session_id: str) -> bool:
        """Whether there is a transcript to resume."""
        return await self.find_workdir(session_id) is not None

    async def refresh(self, session_id: str) -> None:
        """The list knows the session's transcript as it is now."""
        await self._catalog.row(session_id)

    async def find_begun_with(self, workdir: str, uuid: str) -> str | None:
        """The session in this directory that a message with this uuid began."""
        if (session_id := self._journal.find_by_prompt(uuid)) is not None:
            return session_id
        paths = await self._recent_paths(workdir)
        path = await asyncio.to_thread(find_session_of_message, paths, uuid)
        return paths[path] if path is not None else None

    async def find_fork_for(self, session_id: str, uuid: str) -> str | None:
        """The fork of this session that was made for a message with this uuid."""
        if (fork_id := self._journal.find_by_prompt(uuid)) is not None:
            return fork_id
        original = await self._catalog.row(session_id)
        if original is None:
            return None
        paths = await self._recent_paths(original.summary.workdir)
        path = await asyncio.to_thread(find_copy_with_message, paths, session_id, uuid)
        return paths[path] if path is not None else None

    async def recent_uuids(self, session_id: str) -> list[str]:
        """The uuids of the messages near the end of its transcript."""
        row = await self._catalog.row(session_id)
        if row is None or row.fault is not None:
            return []
        page = await asyncio.to_thread(
            self._history.page, Path(row.file.path), session_id, limit=RECENT_MESSAGES
        )
        return [message.uuid for message in page.messages]

    async def prior_cost(self, session_id: str) -> Carried:
        """What the session's processes cost so far, as the last one wrote it down."""
        row = await self._catalog.row(session_id)
        return await asyncio.to_thread(carried, Path(row.file.path)) if row else NOTHING

    async def _recent_paths(self, workdir: str | None) -> dict[str, str]:
        """The transcripts of the newest sessions of a directory: their sessions by path."""
        newest = islice(await self._catalog.rows(), MAX_EXAMINED)
        rows = (row for row in newest if row.summary.workdir == workdir)
        return {row.file.path: row.file.id for row in islice(rows, RECENT_SESSIONS)}
