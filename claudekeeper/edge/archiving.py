"""What Claude Code deletes and is kept: how much, what is about to go, and bringing it back."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
from aiohttp import web

from claudekeeper.edge.endpoints import Endpoint
from claudekeeper.edge.keys import ARCHIVE, CATALOG
from claudekeeper.edge.sessions import row_of, shown
from claudekeeper.edge.wire import NoQuery, body_of, query_of, reply
from claudekeeper.features.archive import Due, Holding, NotArchived, ThereAgain, cleanup_days
from claudekeeper.model.errors import (
    BodyTooLarge,
    SessionNotFound,
    StateUnwritable,
    UnsupportedMedia,
)
from claudekeeper.model.sessions import Session, iso
from claudekeeper.readers.discovery import Row


class Kept(msgspec.Struct, rename="camel"):
    """The archive: whether it is on, what it holds, and what Claude Code deletes before long."""

    on: bool
    holds: Holding
    # after how many days Claude Code deletes
    days: float
    due: list[Due]


class Switch(msgspec.Struct, forbid_unknown_fields=True):
    on: bool


async def kept(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    return reply(await _kept(request))


async def switch(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    wish = await body_of(request, Switch)
    await asyncio.to_thread(request.app[ARCHIVE].switch, wish.on)
    return reply(await _kept(request))


async def restore(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    session_id = (await row_of(request)).found.id
    await asyncio.to_thread(request.app[ARCHIVE].restore, session_id)
    await request.app[CATALOG].row(session_id)
    return reply(shown(request, session_id))


async def _kept(request: web.Request) -> Kept:
    archive, catalog = request.app[ARCHIVE], request.app[CATALOG]
    settings = catalog.projects.parent / "settings.json"
    rows = {row.found.path: row for row in await catalog.rows()}
    return await asyncio.to_thread(
        lambda: Kept(
            archive.is_on,
            archive.holding(),
            cleanup_days(settings),
            [_due(rows.get(str(path)), path, at) for path, at in archive.due(settings).items()],
        )
    )


def _due(row: Row | None, path: Path, at: float) -> Due:
    workdir = row.summary.workdir if row is not None else None
    return Due(path.stem.lower(), workdir, iso(int(at * 1e9)))


_BODY = (UnsupportedMedia, BodyTooLarge)

ENDPOINTS = [
    Endpoint(
        "GET",
        "/archive",
        kept,
        "What is kept of what Claude Code deletes, and what it deletes before long",
        Kept,
    ),
    Endpoint(
        "POST",
        "/archive",
        switch,
        "Keep every transcript from now on, or no more",
        Kept,
        takes=Switch,
        failures=(StateUnwritable, *_BODY),
    ),
    Endpoint(
        "POST",
        "/sessions/{id}/restore",
        restore,
        "Bring back a session that Claude Code deleted",
        Session,
        failures=(SessionNotFound, NotArchived, ThereAgain),
    ),
]
