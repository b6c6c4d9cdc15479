"""The messages of a session: a page of them, or the whole as a stream."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import msgspec
from aiohttp import web

from claudekeeper.edge.endpoints import Endpoint
from claudekeeper.edge.keys import (
    BUS,
    CATALOG,
    FAILED,
    HISTORY,
    OVERVIEW,
    RECORDS,
    REGISTRY,
    SLOW_LANE,
)
from claudekeeper.edge.sessions import is_lost, position_of, readable, row_of, shown
from claudekeeper.edge.wire import (
    Conversation,
    Failure,
    HistoryQuery,
    Refusal,
    query_of,
    reply,
)
from claudekeeper.live.session import LiveSession
from claudekeeper.model.errors import (
    KeeperError,
    MessageNotFound,
    SessionNotFound,
    TranscriptUnreadable,
)
from claudekeeper.model.messages import Message
from claudekeeper.model.sessions import Session
from claudekeeper.readers.discovery import Row
from claudekeeper.readers.history import Page, View
from claudekeeper.readers.lines import Changed
from claudekeeper.readers.whole import ALL, Whole

log = logging.getLogger(__name__)

# seconds in which a client has to take a piece of a stream
READER_SECONDS = 60.0
# messages of a page that takes a while to read
LONG_PAGE = 1000
# messages at the end of a transcript in which words of failed turns are looked for
LATELY = 200


async def conversation(request: web.Request) -> web.StreamResponse:
    query = query_of(request, HistoryQuery)
    await _settle_failed(request)
    live = request.app[REGISTRY].get(request.match_info["id"].lower())
    if live is not None:
        return await _live_conversation(request, live, query)
    if is_lost(request, request.match_info["id"].lower()):
        return _nothing_but_words(request)
    row = await request.app[CATALOG].counted(await row_of(request))
    session = request.app[OVERVIEW].session(row.found.id, row)
    if session is None:
        raise SessionNotFound
    if query.limit == "all":
        return await _stream(request, row, session, query.view)
    # from before the reading: what is written meanwhile may come twice, but never not at all
    position = position_of(request.app)
    page = await _page(request, row, query, query.limit)
    quiet = _quiet(request, session, position)
    quiet.messages, quiet.before = page.messages, page.before
    quiet.branches = page.branches
    return reply(quiet)


async def _settle_failed(request: web.Request) -> None:
    """What failed turns left may stand in the transcript all the same, written at the last."""
    session_id = request.match_info["id"].lower()
    failed = request.app[FAILED]
    row = await request.app[CATALOG].row(session_id) if failed.of(session_id) else None
    if row is None or row.fault is not None:
        return
    with readable():
        page = await asyncio.to_thread(
            request.app[HISTORY].page, Path(row.found.path), session_id, limit=LATELY
        )
    failed.settle(session_id, page.messages)


def _nothing_but_words(request: web.Request) -> web.Response:
    session = shown(request, request.match_info["id"].lower())
    return reply(_quiet(request, session, position_of(request.app)))


def _quiet(request: web.Request, session: Session, position: str) -> Conversation:
    """A conversation in which nothing happens, before its messages are filled in."""
    left = request.app[RECORDS].left(session.id)
    return Conversation(
        session=session,
        messages=[],
        before=None,
        branches=[],
        queue=[item.shown() for item in left.held] if left is not None else [],
        partial=None,
        turn=None,
        position=position,
        interrupted=left if left is not None and left.cut_off else None,
        failed=request.app[FAILED].of(session.id),
    )


async def _live_conversation(
    request: web.Request, live: LiveSession, query: HistoryQuery
) -> web.StreamResponse:
    """What is on disk, and what was told and is not on disk yet: exactly as of the position."""
    mark, waiting = request.app[BUS].seq, live.ledger.unwritten
    row = await request.app[CATALOG].row(live.id)
    page = Page([], None)
    limit = 0
    if query.limit != "all":
        limit = query.limit
    elif row is not None:
        return await _stream(request, row, shown(request, live.id), query.view, live)
    told_only = {message.uuid for message in waiting}
    if row is not None:
        before = None if query.before in told_only else query.before
        asked = HistoryQuery(limit=limit, before=before, view=query.view)
        page = await _page(request, row, asked, limit)
    # nothing waits from here on
    messages, before = page.messages, page.before
    if query.before is None or query.before in told_only:
        messages = live.ledger.merge(messages, waiting, mark)
        if query.before is not None:
            uuids = [message.uuid for message in messages]
            messages = messages[: uuids.index(query.before)]
        if limit and len(messages) > limit:
            messages = messages[-limit:]
            before = messages[0].uuid
    return reply(
        Conversation(
            session=shown(request, live.id),
            messages=messages,
            before=before,
            branches=page.branches,
            queue=live.queue,
            partial=live.stream.partial,
            turn=live.turns.shown,
            position=position_of(request.app),
            interrupted=request.app[RECORDS].left(live.id),
            failed=request.app[FAILED].of(live.id),
        )
    )


async def _page(request: web.Request, row: Row, query: HistoryQuery, limit: int) -> Page:
    if row.fault is not None:
        # the session says what is wrong; it has no messages to show
        return Page([], None)
    history = request.app[HISTORY]
    read = request.app[SLOW_LANE].run if limit > LONG_PAGE else asyncio.to_thread
    with readable():
        return await read(
            history.page,
            Path(row.found.path),
            row.found.id,
            limit=limit,
            before=query.before,
            view=query.view,
        )


async def _stream(
    request: web.Request,
    row: Row,
    session: Session,
    view: View,
    live: LiveSession | None = None,
) -> web.StreamResponse:
    """The whole history, piece by piece, in bounded memory."""
    rest = _quiet(request, session, position_of(request.app))
    unwritten: list[Message] = []
    now = request.app[BUS].seq
    if live is not None:
        rest.queue, rest.partial, rest.turn = live.queue, live.stream.partial, live.turns.shown
        unwritten = live.ledger.lately
    whole: Whole | None = None
    if row.fault is None:
        with readable():
            whole = await request.app[SLOW_LANE].run(
                request.app[HISTORY].whole,
                Path(row.found.path),
                row.found.id,
                view=view,
                # what is told after the position is not read before it is told
                wanted=lambda: live.ledger.told_by(now) if live is not None else ALL,
            )
    try:
        return await _send(request, rest, whole, unwritten)
    finally:
        if whole is not None:
            await asyncio.to_thread(whole.close)


async def _send(
    request: web.Request, rest: Conversation, whole: Whole | None, unwritten: list[Message]
) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    if whole is not None:
        rest.branches = whole.branches
        unwritten = [message for message in unwritten if message.uuid not in whole.uuids]
    before, after = msgspec.json.encode(rest).split(b'"messages":[]', 1)
    separator = before + b'"messages":['
    slowly = request.app[SLOW_LANE].run
    while whole is not None:
        try:
            piece = await slowly(whole.next_piece)
        except Exception as error:  # noqa: BLE001 - it is told, and logged
            # the head is sent: what was begun stays open, and the last line says why
            last = Failure(_reason(request, error))
            await _give(request, response, b"\n" + msgspec.json.encode(last) + b"\n")
            await response.write_eof()
            return response
        if not piece:
            break
        await _give(request, response, separator + piece)
        separator = b","
    if unwritten:
        await _give(request, response, separator + msgspec.json.encode(unwritten)[1:-1])
        separator = b","
    await _give(request, response, (b"]" if separator == b"," else separator + b"]") + after)
    await response.write_eof()
    return response


def _reason(request: web.Request, error: Exception) -> Refusal:
    """Why a stream cannot go on."""
    if isinstance(error, Changed):
        found: KeeperError = TranscriptUnreadable(
            "The transcript was changed while it was sent; ask for it again."
        )
    elif isinstance(error, OSError):
        found = TranscriptUnreadable(f"The transcript cannot be read: {error.strerror}.")
    else:
        log.error("%s %s failed in mid-stream", request.method, request.path, exc_info=error)
        found = KeeperError()
    return Refusal(found.code, found.message)


async def _give(request: web.Request, response: web.StreamResponse, piece: bytes) -> None:
    """A client that takes nothing for long is left: it would keep the file open for ever."""
    try:
        async with asyncio.timeout(READER_SECONDS):
            await response.write(piece)
    except TimeoutError as error:
        if request.transport is not None:
            request.transport.abort()
        raise ConnectionResetError("the client does not read") from error


ENDPOINTS = [
    Endpoint(
        "GET",
        "/sessions/{id}",
        conversation,
        "A session and its messages, in pages from the end; limit=all streams the whole, and if it "
        'cannot go on, the answer is no whole JSON and its last line is `{"error": …}`, a Failure',
        Conversation,
        query=HistoryQuery,
        failures=(SessionNotFound, MessageNotFound, TranscriptUnreadable),
    ),
]
