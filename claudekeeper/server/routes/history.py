"""The messages of a session: a page of them, or the whole as a stream."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import msgspec
from aiohttp import web

from claudekeeper.catalog.discovery import SessionRow
from claudekeeper.contract.errors import MessageNotFound, SessionNotFound, TranscriptUnreadable
from claudekeeper.contract.message import Message
from claudekeeper.contract.sessions import Session
from claudekeeper.net.errors import ApiError
from claudekeeper.net.responses import ErrorAnswer, ErrorBody, json_response
from claudekeeper.server.app_keys import (
    BUS,
    CATALOG,
    FAILED_TURNS,
    HISTORY,
    JOURNAL,
    MANAGER,
    VIEWS,
    WORKERS,
)
from claudekeeper.server.endpoint import Endpoint
from claudekeeper.server.routes.sessions import (
    current_position,
    find_row,
    find_session,
    is_only_in_journal,
    translate_read_errors,
)
from claudekeeper.server.schemas import (
    HistoryPage,
    HistoryQuery,
    parse_query,
)
from claudekeeper.sessions.session import LiveSession
from claudekeeper.transcripts.history import HistorySlice, View
from claudekeeper.transcripts.history_stream import HistoryStream, accept_all
from claudekeeper.transcripts.line_reader import FileChanged

log = logging.getLogger(__name__)

# seconds in which a client has to take a piece of a stream
CLIENT_READ_SECONDS = 60.0
# messages of a page that takes a while to read
LONG_PAGE = 1000
# messages at the end of a transcript in which words of failed turns are looked for
RECENT_MESSAGES = 200


async def session_history(request: web.Request) -> web.StreamResponse:
    query = parse_query(request, HistoryQuery)
    await _settle_failed_turns(request)
    live = request.app[MANAGER].get(request.match_info["id"].lower())
    if live is not None:
        return await _live_page(request, live, query)
    if is_only_in_journal(request, request.match_info["id"].lower()):
        return _page_without_transcript(request)
    row = await request.app[CATALOG].scan_if_small(await find_row(request))
    session = request.app[VIEWS].session(row.file.id, row)
    if session is None:
        raise SessionNotFound
    if query.limit == "all":
        return await _stream_history(request, row, session, query.view)
    # from before the reading: what is written meanwhile may come twice, but never not at all
    position = current_position(request.app)
    page = await _read_page(request, row, query, query.limit)
    quiet = _idle_page(request, session, position)
    quiet.messages, quiet.before = page.messages, page.before
    quiet.branches = page.branches
    return json_response(quiet)


async def _settle_failed_turns(request: web.Request) -> None:
    """What failed turns left may stand in the transcript all the same, written at the last."""
    session_id = request.match_info["id"].lower()
    failed = request.app[FAILED_TURNS]
    row = await request.app[CATALOG].row(session_id) if failed.of(session_id) else None
    if row is None or row.fault is not None:
        return
    with translate_read_errors():
        page = await asyncio.to_thread(
            request.app[HISTORY].page, Path(row.file.path), session_id, limit=RECENT_MESSAGES
        )
    failed.drop_written(session_id, page.messages)


def _page_without_transcript(request: web.Request) -> web.Response:
    session = find_session(request, request.match_info["id"].lower())
    return json_response(_idle_page(request, session, current_position(request.app)))


def _idle_page(request: web.Request, session: Session, position: str) -> HistoryPage:
    """A conversation in which nothing happens, before its messages are filled in."""
    left = request.app[JOURNAL].interrupted_turn(session.id)
    return HistoryPage(
        session=session,
        messages=[],
        before=None,
        branches=[],
        queue=[item.to_queued_prompt() for item in left.held_messages] if left is not None else [],
        partial=None,
        turn=None,
        position=position,
        interrupted=left if left is not None and left.can_continue else None,
        failed=request.app[FAILED_TURNS].of(session.id),
    )


async def _live_page(
    request: web.Request, live: LiveSession, query: HistoryQuery
) -> web.StreamResponse:
    """What is on disk, and what was told and is not on disk yet: exactly as of the position."""
    mark, waiting = request.app[BUS].seq, live.delivery_log.unwritten_messages
    row = await request.app[CATALOG].row(live.id)
    page = HistorySlice([], None)
    limit = 0
    if query.limit != "all":
        limit = query.limit
    elif row is not None:
        return await _stream_history(request, row, find_session(request, live.id), query.view, live)
    told_only = {message.uuid for message in waiting}
    if row is not None:
        before = None if query.before in told_only else query.before
        asked = HistoryQuery(limit=limit, before=before, view=query.view)
        page = await _read_page(request, row, asked, limit)
    # nothing waits from here on
    messages, before = page.messages, page.before
    if query.before is None or query.before in told_only:
        messages = live.delivery_log.merge_page(messages, waiting, mark)
        if query.before is not None:
            uuids = [message.uuid for message in messages]
            messages = messages[: uuids.index(query.before)]
        if limit and len(messages) > limit:
            messages = messages[-limit:]
            before = messages[0].uuid
    return json_response(
        HistoryPage(
            session=find_session(request, live.id),
            messages=messages,
            before=before,
            branches=page.branches,
            queue=live.queued_prompts,
            partial=live.reply_stream.partial,
            turn=live.turns.current_view,
            position=current_position(request.app),
            interrupted=request.app[JOURNAL].interrupted_turn(live.id),
            failed=request.app[FAILED_TURNS].of(live.id),
        )
    )


async def _read_page(
    request: web.Request, row: SessionRow, query: HistoryQuery, limit: int
) -> HistorySlice:
    if row.fault is not None:
        # the session says what is wrong; it has no messages to show
        return HistorySlice([], None)
    history = request.app[HISTORY]
    read = request.app[WORKERS].run if limit > LONG_PAGE else asyncio.to_thread
    with translate_read_errors():
        return await read(
            history.page,
            Path(row.file.path),
            row.file.id,
            limit=limit,
            before=query.before,
            view=query.view,
        )


async def _stream_history(
    request: web.Request,
    row: SessionRow,
    session: Session,
    view: View,
    live: LiveSession | None = None,
) -> web.StreamResponse:
    """The whole history, piece by piece, in bounded memory."""
    rest = _idle_page(request, session, current_position(request.app))
    unwritten: list[Message] = []
    now = request.app[BUS].seq
    if live is not None:
        rest.queue, rest.partial, rest.turn = (
            live.queued_prompts,
            live.reply_stream.partial,
            live.turns.current_view,
        )
        unwritten = live.delivery_log.recent_messages
    whole: HistoryStream | None = None
    if row.fault is None:
        with translate_read_errors():
            whole = await request.app[WORKERS].run(
                request.app[HISTORY].stream,
                Path(row.file.path),
                row.file.id,
                view=view,
                # what is told after the position is not read before it is told
                wanted=lambda: (
                    live.delivery_log.delivered_before(now) if live is not None else accept_all
                ),
            )
    try:
        return await _send_stream(request, rest, whole, unwritten)
    finally:
        if whole is not None:
            await asyncio.to_thread(whole.close)


async def _send_stream(
    request: web.Request, rest: HistoryPage, whole: HistoryStream | None, unwritten: list[Message]
) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    if whole is not None:
        rest.branches = whole.branches
        unwritten = [message for message in unwritten if message.uuid not in whole.uuids]
    before, after = msgspec.json.encode(rest).split(b'"messages":[]', 1)
    separator = before + b'"messages":['
    slowly = request.app[WORKERS].run
    while whole is not None:
        try:
            piece = await slowly(whole.next_chunk)
        except Exception as error:  # noqa: BLE001 - it is told, and logged
            # the head is sent: what was begun stays open, and the last line says why
            last = ErrorAnswer(_error_body(request, error))
            await _write_piece(request, response, b"\n" + msgspec.json.encode(last) + b"\n")
            await response.write_eof()
            return response
        if not piece:
            break
        await _write_piece(request, response, separator + piece)
        separator = b","
    if unwritten:
        await _write_piece(request, response, separator + msgspec.json.encode(unwritten)[1:-1])
        separator = b","
    await _write_piece(request, response, (b"]" if separator == b"," else separator + b"]") + after)
    await response.write_eof()
    return response


def _error_body(request: web.Request, error: Exception) -> ErrorBody:
    """Why a stream cannot go on."""
    if isinstance(error, FileChanged):
        found: ApiError = TranscriptUnreadable(
            "The transcript was changed while it was sent; ask for it again."
        )
    elif isinstance(error, OSError):
        found = TranscriptUnreadable(f"The transcript cannot be read: {error.strerror}.")
    else:
        log.error("%s %s failed in mid-stream", request.method, request.path, exc_info=error)
        found = ApiError()
    return ErrorBody(found.code, found.message)


async def _write_piece(request: web.Request, response: web.StreamResponse, piece: bytes) -> None:
    """A client that takes nothing for long is left: it would keep the file open for ever."""
    try:
        async with asyncio.timeout(CLIENT_READ_SECONDS):
            await response.write(piece)
    except TimeoutError as error:
        if request.transport is not None:
            request.transport.abort()
        raise ConnectionResetError("the client does not read") from error


ENDPOINTS = [
    Endpoint(
        "GET",
        "/sessions/{id}",
        session_history,
        "A session and its messages, in pages from the end; limit=all streams the whole, and if it "
        'cannot go on, the answer is no whole JSON and its last line is `{"error": …}`, a Failure',
        HistoryPage,
        query_type=HistoryQuery,
        errors=(SessionNotFound, MessageNotFound, TranscriptUnreadable),
    ),
]
