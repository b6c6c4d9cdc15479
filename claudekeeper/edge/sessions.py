"""The list of sessions, one session's name, and whether it was given up."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from itertools import islice

import msgspec
from aiohttp import web

from claudekeeper.edge.endpoints import Endpoint
from claudekeeper.edge.keys import BUS, CATALOG, OVERVIEW, PREFERENCES, RECORDS, REGISTRY
from claudekeeper.edge.wire import (
    ListQuery,
    NoQuery,
    Rename,
    Sessions,
    Workdir,
    Workdirs,
    body_of,
    query_of,
    reply,
)
from claudekeeper.features.preferences import GivenUp
from claudekeeper.model.errors import (
    BodyTooLarge,
    InvalidRequest,
    SessionGoesOn,
    SessionNotFound,
    StateUnwritable,
    TranscriptUnreadable,
    UnsupportedMedia,
)
from claudekeeper.model.sessions import Session, iso, now, project_of
from claudekeeper.readers.discovery import Row
from claudekeeper.readers.paths import is_session_id

_CURSOR = re.compile(r"(-?[0-9]{1,20}):([0-9a-f-]{36})")


async def list_sessions(request: web.Request) -> web.Response:
    query = query_of(request, ListQuery)
    overview = request.app[OVERVIEW]
    after = _parse_cursor(query.cursor) if query.cursor is not None else None
    rows = await request.app[CATALOG].rows()
    wanted = (
        row
        for row in rows
        if (after is None or _place(row) < after) and _matches(request, row, query)
    )
    # newest first: one more than the page tells whether there is another
    page = list(islice(wanted, query.limit + 1))
    more = len(page) > query.limit
    page = page[: query.limit]
    cursor = _cursor(page[-1]) if more and page else None
    current = await request.app[CATALOG].refreshed(page)
    current.sort(key=_place, reverse=True)
    sessions = [overview.session(row.found.id, row) for row in current]
    found = [session for session in sessions if session is not None]
    if query.cursor is None:
        found += _begun(request, query)
        found.sort(key=lambda session: session.modified, reverse=True)
    return reply(Sessions(found, cursor, position_of(request.app)))


def _begun(request: web.Request, query: ListQuery) -> list[Session]:
    """Sessions that have no transcript: it is yet to come, or never came."""
    found: list[Session] = []
    ids = [live.id for live in request.app[REGISTRY].all()]
    for session_id in dict.fromkeys([*ids, *request.app[RECORDS].left_alone()]):
        if request.app[CATALOG].known(session_id) is None:
            session = request.app[OVERVIEW].session(session_id)
            if (
                session is not None
                and query.workdir in (None, session.workdir)
                and query.state in (None, session.state)
            ):
                found.append(session)
    return found


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
    session_id = await known_id(request)
    wish = await body_of(request, Rename)
    if wish.name is msgspec.UNSET and wish.given_up is msgspec.UNSET:
        raise InvalidRequest("Say what is to change: `name` or `givenUp`.")
    if wish.given_up is not msgspec.UNSET:
        await _give_up(request, session_id, given_up=wish.given_up)
    if wish.name is not msgspec.UNSET:
        await request.app[PREFERENCES].rename(session_id, wish.name)
    request.app[OVERVIEW].tell(session_id)
    return reply(shown(request, session_id))


async def _give_up(request: web.Request, session_id: str, *, given_up: bool) -> None:
    session = shown(request, session_id)
    if given_up and session.state in ("starting", "running"):
        raise SessionGoesOn
    mark = None
    if given_up:
        row = await request.app[CATALOG].row(session_id)
        row = await request.app[CATALOG].counted(row) if row is not None else None
        messages = row.summary.messages if row is not None and row.counted else None
        mark = GivenUp(session.given_up or now(), messages)
    await request.app[PREFERENCES].give_up(session_id, mark)


async def row_of(request: web.Request) -> Row:
    """The transcript that the address names."""
    session_id = request.match_info["id"]
    row = await request.app[CATALOG].row(session_id) if is_session_id(session_id) else None
    if row is None:
        raise SessionNotFound
    return row


@contextlib.contextmanager
def readable() -> Iterator[None]:
    """What the disk refuses is told as an error of the contract."""
    try:
        yield
    except FileNotFoundError as error:
        raise SessionNotFound from error
    except OSError as error:
        raise TranscriptUnreadable(f"The transcript cannot be read: {error.strerror}.") from error


async def known_id(request: web.Request) -> str:
    """The id of the session that the address names: it runs, or something is left of it."""
    session_id = request.match_info["id"].lower()
    if is_session_id(session_id) and (
        request.app[REGISTRY].get(session_id) is not None or is_lost(request, session_id)
    ):
        return session_id
    return (await row_of(request)).found.id


def is_lost(request: web.Request, session_id: str) -> bool:
    """Whether nothing is left of the session but what was said to it."""
    left = request.app[RECORDS].left(session_id)
    known = request.app[CATALOG].known(session_id)
    return left is not None and left.workdir is not None and known is None


def shown(request: web.Request, session_id: str) -> Session:
    session = request.app[OVERVIEW].session(session_id)
    if session is None:
        raise SessionNotFound
    return session


def position_of(app: web.Application) -> str:
    """The place in the stream of events at which an answer was made."""
    return app[BUS].position


def _matches(request: web.Request, row: Row, query: ListQuery) -> bool:
    if query.workdir is not None and row.summary.workdir != query.workdir:
        return False
    return query.state in (None, request.app[OVERVIEW].state(row))


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
        "Name a session, clear its name, mark it as given up or take that back",
        Session,
        takes=Rename,
        failures=(SessionNotFound, SessionGoesOn, UnsupportedMedia, BodyTooLarge, StateUnwritable),
    ),
]
