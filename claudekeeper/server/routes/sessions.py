"""The list of sessions, one session's name, and whether it was given up."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

import msgspec
from aiohttp import web

from claudekeeper.catalog.discovery import SessionRow
from claudekeeper.catalog.row_list import SortKey
from claudekeeper.contract.errors import (
    SessionGoesOn,
    SessionNotFound,
    StateUnwritable,
    TranscriptUnreadable,
)
from claudekeeper.contract.sessions import Session, project_of
from claudekeeper.core.paths import is_session_id
from claudekeeper.core.timestamps import iso_from_ns, now_iso
from claudekeeper.net.errors import BodyTooLarge, InvalidRequest, UnsupportedMedia
from claudekeeper.net.responses import json_response
from claudekeeper.server.app_keys import BUS, CATALOG, JOURNAL, MANAGER, PREFERENCES, VIEWS
from claudekeeper.server.endpoint import Endpoint
from claudekeeper.server.schemas import (
    EmptyQuery,
    ListQuery,
    SessionList,
    SessionPatch,
    Workdir,
    WorkdirList,
    parse_query,
    read_body,
)
from claudekeeper.sessions.preferences import GivenUp
from claudekeeper.sessions.session_view import SessionViews

_CURSOR = re.compile(r"(-?[0-9]{1,20}):([0-9a-f-]{36})")


async def list_sessions(request: web.Request) -> web.Response:
    query = parse_query(request, ListQuery)
    after = _parse_cursor(query.cursor) if query.cursor is not None else None
    views = request.app[VIEWS]
    page = await request.app[CATALOG].page(
        query.limit, after, lambda row: _matches(views, row, query)
    )
    rows = [views.session(row.file.id, row) for row in page.rows]
    sessions = [session for session in rows if session is not None]
    if query.cursor is None:
        sessions += _sessions_without_transcript(request, query)
        sessions.sort(key=lambda session: session.modified, reverse=True)
    cursor = f"{page.cursor[0]}:{page.cursor[1]}" if page.cursor is not None else None
    return json_response(SessionList(sessions, cursor, current_position(request.app)))


def _sessions_without_transcript(request: web.Request, query: ListQuery) -> list[Session]:
    """Sessions without a transcript, which is yet to come or never came."""
    sessions: list[Session] = []
    ids = [live.id for live in request.app[MANAGER].all()]
    for session_id in dict.fromkeys([*ids, *request.app[JOURNAL].interrupted_sessions()]):
        if request.app[CATALOG].peek_row(session_id) is None:
            session = request.app[VIEWS].session(session_id)
            if (
                session is not None
                and query.workdir in (None, session.workdir)
                and query.state in (None, session.state)
            ):
                sessions.append(session)
    return sessions


async def list_workdirs(request: web.Request) -> web.Response:
    parse_query(request, EmptyQuery)
    workdirs: dict[str, Workdir] = {}
    # newest first, so the first row of a directory has its last use
    for row in await request.app[CATALOG].rows():
        workdir = row.workdir
        if workdir is None:
            continue
        if workdir not in workdirs:
            workdirs[workdir] = Workdir(
                workdir, project_of(workdir), 0, iso_from_ns(row.file.mtime)
            )
        workdirs[workdir].sessions += 1
    return json_response(WorkdirList(list(workdirs.values())))


async def update_session(request: web.Request) -> web.Response:
    parse_query(request, EmptyQuery)
    session_id = await find_session_id(request)
    patch = await read_body(request, SessionPatch)
    if patch.name is msgspec.UNSET and patch.given_up is msgspec.UNSET:
        raise InvalidRequest("Say what is to change: `name` or `givenUp`.")
    if patch.given_up is not msgspec.UNSET:
        await _set_given_up(request, session_id, is_given_up=patch.given_up)
    if patch.name is not msgspec.UNSET:
        await request.app[PREFERENCES].rename(session_id, patch.name)
    request.app[VIEWS].publish_if_changed(session_id)
    return json_response(find_session(request, session_id))


async def _set_given_up(request: web.Request, session_id: str, *, is_given_up: bool) -> None:
    session = find_session(request, session_id)
    if is_given_up and session.state in ("starting", "running"):
        raise SessionGoesOn
    mark = None
    if is_given_up:
        row = await request.app[CATALOG].row(session_id)
        row = await request.app[CATALOG].scan_if_small(row) if row is not None else None
        messages = row.summary.messages if row is not None and row.is_fully_scanned else None
        mark = GivenUp(session.given_up or now_iso(), messages)
    await request.app[PREFERENCES].set_given_up(session_id, mark)


async def find_row(request: web.Request) -> SessionRow:
    """The row of the session in the address."""
    session_id = request.match_info["id"]
    row = await request.app[CATALOG].row(session_id) if is_session_id(session_id) else None
    if row is None:
        raise SessionNotFound
    return row


@contextlib.contextmanager
def translate_read_errors() -> Iterator[None]:
    """Errors of the disk become errors of the contract."""
    try:
        yield
    except FileNotFoundError as error:
        raise SessionNotFound from error
    except OSError as error:
        raise TranscriptUnreadable(f"The transcript cannot be read: {error.strerror}.") from error


async def find_session_id(request: web.Request) -> str:
    """The id of the session in the address: it runs, or has a transcript or an interrupted turn."""
    session_id = request.match_info["id"].lower()
    if is_session_id(session_id) and (
        request.app[MANAGER].get(session_id) is not None or is_only_in_journal(request, session_id)
    ):
        return session_id
    return (await find_row(request)).file.id


def is_only_in_journal(request: web.Request, session_id: str) -> bool:
    """Whether only an interrupted turn is left of the session."""
    interrupted = request.app[JOURNAL].interrupted_turn(session_id)
    row = request.app[CATALOG].peek_row(session_id)
    return interrupted is not None and interrupted.workdir is not None and row is None


def find_session(request: web.Request, session_id: str) -> Session:
    session = request.app[VIEWS].session(session_id)
    if session is None:
        raise SessionNotFound
    return session


def current_position(app: web.Application) -> str:
    """The position in the stream of events at which an answer was made."""
    return app[BUS].position


def _matches(views: SessionViews, row: SessionRow, query: ListQuery) -> bool:
    if query.workdir is not None and row.workdir != query.workdir:
        return False
    return query.state is None or views.state(row) == query.state


def _parse_cursor(cursor: str) -> SortKey:
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
        SessionList,
        query_type=ListQuery,
    ),
    Endpoint("GET", "/workdirs", list_workdirs, "Working directories of all sessions", WorkdirList),
    Endpoint(
        "PATCH",
        "/sessions/{id}",
        update_session,
        "Rename a session, or mark it as given up",
        Session,
        request_type=SessionPatch,
        errors=(SessionNotFound, SessionGoesOn, UnsupportedMedia, BodyTooLarge, StateUnwritable),
    ),
]
