"""What Claude Code deletes and is kept: how much, what is about to go, and bringing it back."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
from aiohttp import web

from claudekeeper.archive.archive import (
    ArchiveSize,
    DueDeletion,
    TranscriptExists,
    TranscriptNotArchived,
    cleanup_days,
)
from claudekeeper.catalog.discovery import SessionRow
from claudekeeper.contract.errors import SessionNotFound, StateUnwritable
from claudekeeper.contract.sessions import Session
from claudekeeper.core.timestamps import iso_from_ns
from claudekeeper.net.errors import BodyTooLarge, UnsupportedMedia
from claudekeeper.net.responses import json_response
from claudekeeper.server.app_keys import ARCHIVE, CATALOG
from claudekeeper.server.endpoint import Endpoint
from claudekeeper.server.routes.sessions import find_row, find_session
from claudekeeper.server.schemas import EmptyQuery, parse_query, read_body


class ArchiveStatus(msgspec.Struct, rename="camel"):
    """The archive: whether it is on, what it holds, and what Claude Code deletes before long."""

    on: bool
    holds: ArchiveSize
    # after how many days Claude Code deletes
    days: float
    due: list[DueDeletion]


class ArchiveSwitch(msgspec.Struct, forbid_unknown_fields=True):
    on: bool


async def archive_status(request: web.Request) -> web.Response:
    parse_query(request, EmptyQuery)
    return json_response(await _read_status(request))


async def switch_archive(request: web.Request) -> web.Response:
    parse_query(request, EmptyQuery)
    body = await read_body(request, ArchiveSwitch)
    await asyncio.to_thread(request.app[ARCHIVE].set_enabled, body.on)
    return json_response(await _read_status(request))


async def restore_session(request: web.Request) -> web.Response:
    parse_query(request, EmptyQuery)
    session_id = (await find_row(request)).file.id
    await asyncio.to_thread(request.app[ARCHIVE].restore, session_id)
    await request.app[CATALOG].row(session_id)
    return json_response(find_session(request, session_id))


async def _read_status(request: web.Request) -> ArchiveStatus:
    archive, catalog = request.app[ARCHIVE], request.app[CATALOG]
    settings = catalog.projects.parent / "settings.json"
    rows = {row.file.path: row for row in await catalog.rows()}
    return await asyncio.to_thread(
        lambda: ArchiveStatus(
            archive.is_enabled,
            archive.size(),
            cleanup_days(settings),
            [
                _due_deletion(rows.get(str(path)), path, at)
                for path, at in archive.due_deletions(settings).items()
            ],
        )
    )


def _due_deletion(row: SessionRow | None, path: Path, at: float) -> DueDeletion:
    workdir = row.summary.workdir if row is not None else None
    return DueDeletion(path.stem.lower(), workdir, iso_from_ns(int(at * 1e9)))


_BODY = (UnsupportedMedia, BodyTooLarge)

ENDPOINTS = [
    Endpoint(
        "GET",
        "/archive",
        archive_status,
        "What the archive holds, and what Claude Code deletes next",
        ArchiveStatus,
    ),
    Endpoint(
        "POST",
        "/archive",
        switch_archive,
        "Switch the archive on or off",
        ArchiveStatus,
        request_type=ArchiveSwitch,
        errors=(StateUnwritable, *_BODY),
    ),
    Endpoint(
        "POST",
        "/sessions/{id}/restore",
        restore_session,
        "Bring back a session that Claude Code deleted",
        Session,
        errors=(SessionNotFound, TranscriptNotArchived, TranscriptExists),
    ),
]
