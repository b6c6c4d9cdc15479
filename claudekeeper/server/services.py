"""Who asks whom, and who is told of what: the services of one keeper, tied together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from itertools import islice
from pathlib import Path

from aiohttp import web

from claudekeeper.analysis.recorded_cost import NOTHING, Carried
from claudekeeper.analysis.recorded_cost import carried as carried_by
from claudekeeper.catalog.catalog import Catalog
from claudekeeper.catalog.discovery import SessionRow
from claudekeeper.catalog.quick_scan import find_copy_with_message, find_session_of_message
from claudekeeper.contract.errors import TranscriptUnreadable
from claudekeeper.server.app_keys import (
    ARCHIVE,
    ATTENTION,
    CATALOG,
    CONVERSATIONS,
    COVERAGE,
    FOLLOWER,
    HISTORY,
    JOURNAL,
    MANAGER,
    PREFERENCES,
    PRESENCE,
    SEARCH,
    SHUTDOWN,
    TERMINAL_PROMPTS,
    USAGE,
    VIEWS,
)
from claudekeeper.sessions.manager import SessionStore
from claudekeeper.sessions.session_view import SessionViews
from claudekeeper.transcripts.entries import Entry
from claudekeeper.transcripts.tail import read_last_entries

# where a message that is sent again is looked for: at the end of its session, or at the beginning
# of one that is new
RECENT_MESSAGES = 200
RECENT_SESSIONS = 20
# and how many are looked at for those of the same directory
MOST_EXAMINED = 500


def connect_services(app: web.Application) -> None:
    """Who is told of what: this keeper's CLIs, others', and the files that both write."""
    registry, presences, follow = app[MANAGER], app[PRESENCE], app[FOLLOWER]
    overview, catalog = app[VIEWS], app[CATALOG]
    archive, search = app[ARCHIVE], app[SEARCH]
    coverage, preferences = app[COVERAGE], app[PREFERENCES]
    records, ending, terminals = app[JOURNAL], app[SHUTDOWN], app[TERMINAL_PROMPTS]

    def session_changed(session_id: str) -> None:
        # first: what was left unfinished may have just been taken up again
        records.update(session_id)
        overview.publish_if_changed(session_id)
        ending.handle_session_change(session_id)
        follow.deliver_withheld(session_id)

    def presence_changed(session_id: str) -> None:
        registry.yield_to(session_id, presences.get(session_id))
        follow.follow_subagents(session_id)
        terminals.handle_presence_change(session_id)
        session_changed(session_id)

    def row_changed(before: SessionRow | None, row: SessionRow | None) -> None:
        follow.handle_row_change(before, row)
        app[USAGE].handle_row_change(row)
        search.handle_row_change(before, row)
        coverage.handle_row_change(before, row)
        if (
            row is not None
            and row.is_fully_scanned
            and preferences.given_up_at(row.file.id) is not None
        ):
            # a title that is written into the file is nothing that was said
            preferences.clear_given_up(row.file.id, row.summary.messages)
        if row is None:
            archive.wake()

    def touched(paths: Iterable[str]) -> None:
        paths = list(paths)
        follow.handle_file_changes(paths)
        search.handle_file_changes(paths)

    def told_by_its_own(session_id: str) -> bool:
        live = registry.get(session_id)
        return live is not None and live.holds_slot and session_id not in presences

    catalog.session_changed = overview.publish_row_change
    catalog.session_scanned = overview.publish_counts
    overview.is_archived = archive.is_archived
    overview.item_of = app[CONVERSATIONS].owners.item_of
    app[CONVERSATIONS].owners.changed.subscribe(overview.publish_row_change)
    overview.archived_since = archive.archived_since
    overview.progress_of = coverage.progress_of
    overview.given_up_at = preferences.given_up_at
    coverage.progress_changed = overview.publish_counts
    registry.on_change = app[ATTENTION].on_change = session_changed
    presences.is_ours = registry.is_ours
    presences.presence_changed = presence_changed
    catalog.watcher.files_changed = touched
    catalog.row_changed = row_changed
    archive.on_folders_changed = catalog.scan_folders
    follow.is_ours = told_by_its_own
    follow.on_entries = terminals.handle_entries
    terminals.is_ours = lambda session_id, pid: pid in registry.pids or told_by_its_own(session_id)


def session_store(app: web.Application) -> SessionStore:
    """What the registry asks of the transcripts, and of what never came to one."""
    catalog, history, presences = app[CATALOG], app[HISTORY], app[PRESENCE]
    archive = app[ARCHIVE]

    async def workdir(session_id: str) -> str | None:
        row = await catalog.row(session_id)
        if row is not None and archive.is_archived(row):
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
        if (left := app[JOURNAL].find_by_prompt(uuid)) is not None:
            return left
        newest = islice(await catalog.rows(), MOST_EXAMINED)
        rows = (row for row in newest if row.summary.workdir == workdir)
        paths = {row.file.path: row.file.id for row in islice(rows, RECENT_SESSIONS)}
        first = await asyncio.to_thread(find_session_of_message, paths, uuid)
        return paths[first] if first is not None else None

    async def copied_for(session_id: str, uuid: str) -> str | None:
        if (left := app[JOURNAL].find_by_prompt(uuid)) is not None:
            return left
        original = await catalog.row(session_id)
        if original is None:
            return None
        workdir = original.summary.workdir
        newest = islice(await catalog.rows(), MOST_EXAMINED)
        rows = (row for row in newest if row.summary.workdir == workdir)
        paths = {row.file.path: row.file.id for row in islice(rows, RECENT_SESSIONS)}
        first = await asyncio.to_thread(find_copy_with_message, paths, session_id, uuid)
        return paths[first] if first is not None else None

    async def recent(session_id: str) -> list[str]:
        row = await catalog.row(session_id)
        if row is None or row.fault is not None:
            return []
        page = await asyncio.to_thread(
            history.page, Path(row.file.path), session_id, limit=RECENT_MESSAGES
        )
        return [message.uuid for message in page.messages]

    async def carried(session_id: str) -> Carried:
        row = await catalog.row(session_id)
        return await asyncio.to_thread(carried_by, Path(row.file.path)) if row else NOTHING

    return SessionStore(
        workdir,
        lambda session_id: app[JOURNAL].interrupted_turn(session_id),
        begun_with,
        copied_for,
        recent,
        presences.refresh_and_get,
        presences.wait_until_free,
        carried,
    )


def recent_entries(catalog: Catalog) -> Callable[[str], Awaitable[list[Entry]]]:
    async def recent(session_id: str) -> list[Entry]:
        row = await catalog.row(session_id)
        return await asyncio.to_thread(read_last_entries, row.file.path) if row is not None else []

    return recent


def label_of(overview: SessionViews) -> Callable[[str], str | None]:
    def label(session_id: str) -> str | None:
        session = overview.session(session_id)
        return session.display_name if session else None

    return label
