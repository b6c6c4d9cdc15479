"""What the folds of sessions say beyond their rows: facts, and when things were done."""

from __future__ import annotations

import asyncio

from claudekeeper.analysis.session_facts import SessionFacts, SubagentShare, share_of
from claudekeeper.analysis.summary import (
    SessionActivity,
    unpack_activity,
    unpack_state,
    unpack_usage,
)
from claudekeeper.catalog.cache import Cache
from claudekeeper.catalog.cache_writer import CacheWriter
from claudekeeper.catalog.discovery import SessionRow, continue_fold

# a file this small is read to answer a request
MAX_READ_ON_REQUEST = 1024 * 1024


class FoldReader:
    """Folds come from the cache. A small transcript is read where the cache has not got it."""

    def __init__(self, cache: Cache, cache_writer: CacheWriter) -> None:
        self._cache = cache
        self._cache_writer = cache_writer

    async def facts(
        self, row: SessionRow
    ) -> tuple[SessionRow, SessionFacts | None, list[SubagentShare]]:
        """What was done in a session, and what its subagents did, as far as that was read.

        None: not every line of it was read, and reading it would take time.
        """
        row, fold = await self._load(row)
        if fold is None:
            return row, None, []
        state = unpack_state(fold)
        shares = await asyncio.to_thread(self._cache.subagent_shares, row.file.id)
        return row, state.facts, [share_of(state.subagent_facts), *shares]

    async def activity(self, row: SessionRow) -> tuple[SessionRow, SessionActivity | None]:
        """When things were done in a session, and its prompts; None as for `facts`."""
        row, fold = await self._load(row)
        return row, unpack_activity(fold) if fold is not None else None

    async def _load(self, row: SessionRow) -> tuple[SessionRow, bytes | None]:
        fold = self._cache_writer.pending_fold(row.file.path)
        if fold is None and row.is_fully_scanned:
            fold = await asyncio.to_thread(self._cache.load_fold, row.file.path)
        if (
            fold is not None
            and row.is_fully_scanned
            and unpack_usage(fold).lines == row.summary.lines
        ):
            return row, fold
        if row.fault is None and row.file.size <= MAX_READ_ON_REQUEST:
            read = await asyncio.to_thread(continue_fold, row, None)
            if read is not None and read[1] is not None:
                return read
        return row, None
