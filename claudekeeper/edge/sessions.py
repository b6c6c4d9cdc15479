"""The list of sessions, and one session's name."""

from __future__ import annotations

import re

from aiohttp import web

from claudekeeper.edge.endpoints import Endpoint
from claudekeeper.edge.keys import CATALOG, EPOCH, PREFERENCES
from claudekeeper.edge.wire import (
    ListQuery,
    NoQuery,
    Rename,
    Session,
    Sessions,
    Workdir,
    Workdirs,
    body_of,
    iso,
    project_of,
    query_of,
    reply,
    session_of,
)
from claudekeeper.model.errors import (
    BodyTooLarge,
    InvalidRequest,
    SessionNotFound,
    StateUnwritable,
    UnsupportedMedia,
)
from claudekeeper.readers.discovery import Row
from claudekeeper.readers.paths import is_session_id

_CURSOR = re.compile(r"(-?[0-9]{1,20}):([0-9a-f-]{36})")


async def list_sessions(request: web.Request) -> web.Response:
    query = query_of(request, ListQuery)
    page = [row for row in await request.app[CATALOG].rows() if _matches(row, query)]
    if query.cursor is not None:
        after = _parse_cursor(query.cursor)
        page = [row for row in page if _place(row) < after]
    more = len(page) > query.limit
    page = page[: query.limit]
    cursor = _cursor(page[-1]) if more and page else None
    names = request.app[PREFERENCES]
    current = await request.app[CATALOG].refreshed(page)
    current.sort(key=_place, reverse=True)
    return reply(
        Sessions(
            [session_of(row, names.name_of(row.found.id)) for row in current],
            cursor,
            position_of(request.app),
        )
    )


async def list_workdirs(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    known: dict[str, Workdir] = {}
    # newest first, so the first row of a directory tells when it was used last
    for row in await request.app[CATALOG].rows():
        workdir = row.summary.workdir
        if workdir is None:
            continue
        if workdir not in known:
            known[workdir] = Workdir(workdir, project_of(workdir), 0, iso(row.found.mtime))
        known[workdir].sessions += 1
    return reply(Workdirs(list(known.values())))


async def rename(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    row = await row_of(request)
    wish = await body_of(request, Rename)
    await request.app[PREFERENCES].rename(row.found.id, wish.name)
    return reply(session_of(row, wish.name))


async def row_of(request: web.Request) -> Row:
    """The session that the address names."""
    session_id = request.match_info["id"]
    row = await request.app[CATALOG].row(session_id) if is_session_id(session_id) else None
    if row is None:
        raise SessionNotFound
    return row


def position_of(app: web.Application) -> str:
    """The place in the stream of events at which an answer was made."""
    return f"{app[EPOCH]}:0"


def _matches(row: Row, query: ListQuery) -> bool:
    if query.workdir is not None and row.summary.workdir != query.workdir:
        return False
    return query.state is None or query.state == ("error" if row.fault else "idle")


def _place(row: Row) -> tuple[int, str]:
    return row.found.mtime, row.found.id


def _cursor(row: Row) -> str:
    return f"{row.found.mtime}:{row.found.id}"


def _parse_cursor(cursor: str) -> tuple[int, str]:
    parts = _CURSOR.fullmatch(cursor)
    if parts is None:
        raise InvalidRequest("The cursor is not one that the keeper gave.")
    return int(parts[1]), parts[2]


ENDPOINTS = [
    Endpoint(
        "GET",
        "/sessions",
        list_sessions,
        "Every session of the machine, newest first",
        Sessions,
        query=ListQuery,
    ),
    Endpoint("GET", "/workdirs", list_workdirs, "Known working directories", Workdirs),
    Endpoint(
        "PATCH",
        "/sessions/{id}",
        rename,
        "Name a session, or clear its name",
        Session,
        takes=Rename,
        failures=(SessionNotFound, UnsupportedMedia, BodyTooLarge, StateUnwritable),
    ),
]
