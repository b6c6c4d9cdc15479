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
from claudekeeper.net.errors import ApiError
from claudekeeper.net.responses import ErrorAnswer, ErrorBody, json_response
from claudekeeper.server.app_keys import (
    BUS,
    CATALOG,
    FAILED_TURNS,
    HISTORY,
    MANAGER,
    VIEWS,
    WORKERS,
)
from claudekeeper.server.endpoint import Endpoint
from claudekeeper.server.routes.sessions import (
    current_position,
    find_row,
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
    session_id = request.match_info["id"].lower()
    await _settle_failed_turns(request, session_id)
    live = request.app[MANAGER].get(session_id)
    if live is not None:
        return await _live_history(request, live, query)
    row = None if is_only_in_journal(request, session_id) else await find_row(request)
    if query.limit == "all":
        return await _stream_history(request, session_id, row, query.view)
    # from before the reading: what is written meanwhile may come twice, but never not at all
    position = current_position(request.app)
    part = await _read_page(request, row, query)
    return json_response(_build_page(request, session_id, row, part, position))


async def _settle_failed_turns(request: web.Request, session_id: str) -> None:
    """What failed turns left may stand in the transcript all the same, written at the last."""
    failed_turns = request.app[FAILED_TURNS]
    row = await request.app[CATALOG].row(session_id) if failed_turns.of(session_id) else None
    if row is None or row.fault is not None:
        return
    with translate_read_errors():
        page = await asyncio.to_thread(
            request.app[HISTORY].page, Path(row.file.path), session_id, limit=RECENT_MESSAGES
        )
    failed_turns.drop_written(session_id, page.messages)


def _build_page(
    request: web.Request,
    session_id: str,
    row: SessionRow | None,
    part: HistorySlice,
    position: str,
    live: LiveSession | None = None,
) -> HistoryPage:
    """The answer: a part of the messages, and everything else as it is now."""
    view = request.app[VIEWS].view(session_id, row)
    if view is None:
        raise SessionNotFound
    interrupted = view.interrupted
    if live is not None:
        queue = live.queued_prompts
    else:
        held = interrupted.held_messages if interrupted is not None else []
        queue = [message.to_queued_prompt() for message in held]
    return HistoryPage(
        session=view.session,
        messages=part.messages,
        before=part.before,
        branches=part.branches,
        queue=queue,
        partial=live.reply_stream.partial if live is not None else None,
        turn=live.turns.current_view if live is not None else None,
        position=position,
        interrupted=interrupted if interrupted is not None and interrupted.can_continue else None,
        failed=request.app[FAILED_TURNS].of(session_id),
    )


async def _live_history(
    request: web.Request, live: LiveSession, query: HistoryQuery
) -> web.StreamResponse:
    """What is on disk, and what was delivered and is not on disk yet: exactly at the position."""
    seq, unwritten = request.app[BUS].seq, live.delivery_log.unwritten_messages
    row = await request.app[CATALOG].row(live.id)
    if query.limit == "all" and row is not None:
        return await _stream_history(request, live.id, row, query.view, live)
    unwritten_uuids = {message.uuid for message in unwritten}
    asks_unwritten = query.before in unwritten_uuids
    on_disk = HistoryQuery(
        limit=query.limit, before=None if asks_unwritten else query.before, view=query.view
    )
    part = await _read_page(request, row, on_disk)
    # no waiting from here on
    if query.before is None or asks_unwritten:
        messages = live.delivery_log.merge_page(part.messages, unwritten, seq)
        if asks_unwritten:
            uuids = [message.uuid for message in messages]
            messages = messages[: uuids.index(str(query.before))]
        before = part.before
        if isinstance(query.limit, int) and len(messages) > query.limit:
            messages = messages[-query.limit :]
            before = messages[0].uuid
        part = HistorySlice(messages, before, part.branches)
    # the row may have changed while the page was read: the session is that of the position
    position = current_position(request.app)
    return json_response(_build_page(request, live.id, None, part, position, live))


async def _read_page(
    request: web.Request, row: SessionRow | None, query: HistoryQuery
) -> HistorySlice:
    if row is None or row.fault is not None:
        # the session says what is wrong; it has no messages to show
        return HistorySlice([], None)
    assert isinstance(query.limit, int)
    read = request.app[WORKERS].run if query.limit > LONG_PAGE else asyncio.to_thread
    with translate_read_errors():
        return await read(
            request.app[HISTORY].page,
            Path(row.file.path),
            row.file.id,
            limit=query.limit,
            before=query.before,
            view=query.view,
        )


async def _stream_history(
    request: web.Request,
    session_id: str,
    row: SessionRow | None,
    view: View,
    live: LiveSession | None = None,
) -> web.StreamResponse:
    """The whole history, piece by piece, in bounded memory."""
    position, seq = current_position(request.app), request.app[BUS].seq
    answer = _build_page(request, session_id, row, HistorySlice([], None), position, live)
    unwritten = live.delivery_log.recent_messages if live is not None else []
    stream: HistoryStream | None = None
    if row is not None and row.fault is None:
        with translate_read_errors():
            stream = await request.app[WORKERS].run(
                request.app[HISTORY].stream,
                Path(row.file.path),
                row.file.id,
                view=view,
                # what is delivered after the position is not read before it is delivered
                uuid_filter=lambda: live.delivery_log.delivered_before(seq) if live else accept_all,
            )
    try:
        return await _send_stream(request, answer, stream, unwritten)
    finally:
        if stream is not None:
            await asyncio.to_thread(stream.close)


async def _send_stream(
    request: web.Request,
    answer: HistoryPage,
    stream: HistoryStream | None,
    unwritten: list[Message],
) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    if stream is not None:
        answer.branches = stream.branches
        unwritten = [message for message in unwritten if message.uuid not in stream.uuids]
    before, after = msgspec.json.encode(answer).split(b'"messages":[]', 1)
    separator = before + b'"messages":['
    read = request.app[WORKERS].run
    while stream is not None:
        try:
            piece = await read(stream.next_chunk)
        except Exception as error:  # noqa: BLE001 - the client is told, and it is logged
            # the head is sent already: the JSON stays open, and the last line says why
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
        reason: ApiError = TranscriptUnreadable(
            "The transcript was changed while it was sent; ask for it again."
        )
    elif isinstance(error, OSError):
        reason = TranscriptUnreadable(f"The transcript cannot be read: {error.strerror}.")
    else:
        log.error("%s %s failed in mid-stream", request.method, request.path, exc_info=error)
        reason = ApiError()
    return ErrorBody(reason.code, reason.message)


async def _write_piece(request: web.Request, response: web.StreamResponse, piece: bytes) -> None:
    """A client that reads nothing for long is cut off: it would keep the file open for ever."""
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
        "A session and its messages, in pages from the end; limit=all streams all of them, and if "
        'that fails, the JSON ends early and its last line is `{"error": …}`, an ErrorAnswer',
        HistoryPage,
        query_type=HistoryQuery,
        errors=(SessionNotFound, MessageNotFound, TranscriptUnreadable),
    ),
]
