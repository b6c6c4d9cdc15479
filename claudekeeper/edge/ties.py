"""Who asks whom, and who is told of what: the services of one keeper, tied together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from itertools import islice
from pathlib import Path

from aiohttp import web

from claudekeeper.edge.keys import (
    ARCHIVE,
    CATALOG,
    CONVERSATIONS,
    COVERAGE,
    DESK,
    ENDING,
    FOLLOW,
    HISTORY,
    OVERVIEW,
    PREFERENCES,
    PRESENCES,
    RECORDS,
    REGISTRY,
    SEARCH,
    TERMINALS,
    USAGE,
)
from claudekeeper.features.reckoning import used_by
from claudekeeper.features.succession import LastWords, Sessions, last_words_of, reply_of
from claudekeeper.live.catalog import Catalog
from claudekeeper.live.overview import Overview
from claudekeeper.live.registry import Disk
from claudekeeper.live.unfinished import Records
from claudekeeper.model.entries import Entry
from claudekeeper.model.errors import TranscriptUnreadable
from claudekeeper.readers.carried import NOTHING, Carried
from claudekeeper.readers.carried import carried as carried_by
from claudekeeper.readers.discovery import Row
from claudekeeper.readers.glance import first_that_begins_with, first_that_goes_on_with
from claudekeeper.readers.history import History
from claudekeeper.readers.tail import last_lines

# where a message that is sent again is looked for: at the end of its session, or at the beginning
# of one that is new
RECENT_MESSAGES = 200
RECENT_SESSIONS = 20
# and how many are looked at for those of the same directory
LOOKED_AT = 500


def tie_together(app: web.Application) -> None:
    """Who is told of what: this keeper's CLIs, others', and the files that both write."""
    registry, presences, follow = app[REGISTRY], app[PRESENCES], app[FOLLOW]
    overview, catalog = app[OVERVIEW], app[CATALOG]
    archive, search = app[ARCHIVE], app[SEARCH]
    coverage, preferences = app[COVERAGE], app[PREFERENCES]
    records, ending, terminals = app[RECORDS], app[ENDING], app[TERMINALS]

    def session_changed(session_id: str) -> None:
        # first: what was left unfinished may have just been taken up again
        records.note(session_id)
        overview.tell(session_id)
        ending.note(session_id)
        follow.settle(session_id)

    def presence_changed(session_id: str) -> None:
        registry.make_way(session_id, presences.of(session_id))
        follow.attend(session_id)
        terminals.presence_changed(session_id)
        session_changed(session_id)

    def row_changed(before: Row | None, row: Row | None) -> None:
        follow.row_changed(before, row)
        app[USAGE].note(row)
        search.row_changed(before, row)
        coverage.note(before, row)
        if row is not None and row.counted and preferences.given_up(row.found.id) is not None:
            # a title that is written into the file is nothing that was said
            preferences.went_on(row.found.id, row.summary.messages)
        if row is None:
            archive.nudge()

    def touched(paths: Iterable[str]) -> None:
        paths = list(paths)
        follow.touched(paths)
        search.touched(paths)

    def told_by_its_own(session_id: str) -> bool:
        live = registry.get(session_id)
        return live is not None and live.occupies and session_id not in presences

    catalog.changed = overview.tell_row
    catalog.was_counted = overview.tell_counted
    overview.is_archived = archive.has
    overview.item_of = app[CONVERSATIONS].item_of
    app[CONVERSATIONS].on_owner_changed(overview.tell_row)
    overview.archived_since = archive.since
    overview.covered = coverage.progress_of
    overview.given_up = preferences.given_up
    coverage.changed = overview.tell_counted
    registry.changed = app[DESK].changed = session_changed
    presences.ours = registry.runs
    presences.changed = presence_changed
    catalog.watcher.touched = touched
    catalog.row_changed = row_changed
    archive.moved = catalog.look_at
    follow.told_otherwise = told_by_its_own
    follow.heard = terminals.heard
    terminals.runs = lambda session_id, pid: pid in registry.pids or told_by_its_own(session_id)


def disk_of(app: web.Application) -> Disk:
    """What the registry asks of the transcripts, and of what never came to one."""
    catalog, history, presences = app[CATALOG], app[HISTORY], app[PRESENCES]
    archive = app[ARCHIVE]

    async def workdir(session_id: str) -> str | None:
        row = await catalog.row(session_id)
        if row is not None and archive.has(row):
            # Claude Code can go on only with what lies where it looks
            await asyncio.to_thread(archive.restore, session_id)
            row = await catalog.row(session_id)
        if row is None:
            return None
        if row.fault is not None:
            # Claude Code cannot read it either: it would end without a word
            raise TranscriptUnreadable(f"{row.fault.message} Claude Code cannot go on with it.")
        return row.summary.workdir or str(Path.home())

    async def begun_with(workdir: str, uuid: str) -> str | None:
        if (left := app[RECORDS].of_prompt(uuid)) is not None:
            return left
        newest = islice(await catalog.rows(), LOOKED_AT)
        rows = (row for row in newest if row.summary.workdir == workdir)
        paths = {row.found.path: row.found.id for row in islice(rows, RECENT_SESSIONS)}
        first = await asyncio.to_thread(first_that_begins_with, paths, uuid)
        return paths[first] if first is not None else None

    async def copied_for(session_id: str, uuid: str) -> str | None:
        if (left := app[RECORDS].of_prompt(uuid)) is not None:
            return left
        original = await catalog.row(session_id)
        if original is None:
            return None
        workdir = original.summary.workdir
        newest = islice(await catalog.rows(), LOOKED_AT)
        rows = (row for row in newest if row.summary.workdir == workdir)
        paths = {row.found.path: row.found.id for row in islice(rows, RECENT_SESSIONS)}
        first = await asyncio.to_thread(first_that_goes_on_with, paths, session_id, uuid)
        return paths[first] if first is not None else None

    async def recent(session_id: str) -> list[str]:
        row = await catalog.row(session_id)
        if row is None or row.fault is not None:
            return []
        page = await asyncio.to_thread(
            history.page, Path(row.found.path), session_id, limit=RECENT_MESSAGES
        )
        return [message.uuid for message in page.messages]

    async def carried(session_id: str) -> Carried:
        row = await catalog.row(session_id)
        return await asyncio.to_thread(carried_by, Path(row.found.path)) if row else NOTHING

    return Disk(
        workdir,
        lambda session_id: app[RECORDS].left(session_id),
        begun_with,
        copied_for,
        recent,
        presences.now,
        presences.vacant,
        carried,
    )


def sessions_of(
    catalog: Catalog, history: History, overview: Overview, records: Records
) -> Sessions:
    """What conversations of work ask of sessions."""

    async def exists(session_id: str) -> bool:
        return await catalog.row(session_id) is not None

    async def count(session_id: str) -> None:
        row = await catalog.row(session_id)
        if row is not None:
            await catalog.counted(row)

    def messages(session_id: str) -> int | None:
        session = overview.session(session_id)
        return session.message_count if session is not None else None

    async def last_words(session_id: str, most: int, room: int) -> LastWords:
        row = await catalog.row(session_id)
        if row is None or row.fault is not None:
            return LastWords([], 0)
        return await asyncio.to_thread(
            last_words_of, history, Path(row.found.path), session_id, most, room
        )

    async def reply_to(session_id: str, uuid: str) -> str | None:
        row = await catalog.row(session_id)
        if row is None or row.fault is not None:
            return None
        return await asyncio.to_thread(reply_of, history, Path(row.found.path), session_id, uuid)

    async def used(session_id: str, uuid: str) -> tuple[int, float]:
        row = await catalog.row(session_id)
        if row is None or row.fault is not None:
            return 0, 0.0
        return await asyncio.to_thread(used_by, history, Path(row.found.path), session_id, uuid)

    def forget_left(session_id: str) -> None:
        records.forget(session_id)
        overview.tell_row(session_id)

    return Sessions(exists, count, messages, last_words, reply_to, used, forget_left)


def recent_lines(catalog: Catalog) -> Callable[[str], Awaitable[list[Entry]]]:
    async def recent(session_id: str) -> list[Entry]:
        row = await catalog.row(session_id)
        return await asyncio.to_thread(last_lines, row.found.path) if row is not None else []

    return recent


def label_of(overview: Overview) -> Callable[[str], str | None]:
    def label(session_id: str) -> str | None:
        session = overview.session(session_id)
        return session.called if session else None

    return label
