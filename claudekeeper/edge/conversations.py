"""The messages of a session and of its subagents."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
from aiohttp import web

from claudekeeper.edge.endpoints import Endpoint
from claudekeeper.edge.keys import BUS, CATALOG, HISTORY, OVERVIEW, RECORDS, REGISTRY
from claudekeeper.edge.sessions import is_lost, position_of, row_of, shown
from claudekeeper.edge.wire import (
    Conversation,
    HistoryQuery,
    Nested,
    NestedQuery,
    NoQuery,
    Subagents,
    query_of,
    reply,
)
from claudekeeper.live.session import LiveSession
from claudekeeper.model.errors import (
    MessageNotFound,
    SessionNotFound,
    SubagentNotFound,
    TranscriptUnreadable,
)
from claudekeeper.model.messages import Message
from claudekeeper.model.sessions import Session
from claudekeeper.readers.discovery import Row
from claudekeeper.readers.history import Page, View
from claudekeeper.readers.lines import Changed
from claudekeeper.readers.subagents import Subagent, list_subagents, read_subagent
from claudekeeper.readers.whole import ALL, Whole

# seconds in which a client has to take a piece of a stream
READER_SECONDS = 60.0


async def conversation(request: web.Request) -> web.StreamResponse:
    query = query_of(request, HistoryQuery)
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
    return reply(
        Conversation(
            session,
            page.messages,
            page.before,
            page.branches,
            [],
            None,
            None,
            position,
            request.app[RECORDS].left(row.found.id),
        )
    )


def _nothing_but_words(request: web.Request) -> web.Response:
    session = shown(request, request.match_info["id"].lower())
    left = request.app[RECORDS].left(session.id)
    return reply(
        Conversation(session, [], None, [], [], None, None, position_of(request.app), left)
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
            shown(request, live.id),
            messages,
            before,
            page.branches,
            live.queue,
            live.stream.partial,
            live.turns.shown,
            position_of(request.app),
            request.app[RECORDS].left(live.id),
        )
    )


async def _page(request: web.Request, row: Row, query: HistoryQuery, limit: int) -> Page:
    if row.fault is not None:
        # the session says what is wrong; it has no messages to show
        return Page([], None)
    history = request.app[HISTORY]
    with _unreadable():
        return await asyncio.to_thread(
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
    rest = Conversation(session, [], None, [], [], None, None, position_of(request.app))
    rest.interrupted = request.app[RECORDS].left(session.id)
    unwritten: list[Message] = []
    now = request.app[BUS].seq
    if live is not None:
        rest.queue, rest.partial, rest.turn = live.queue, live.stream.partial, live.turns.shown
        unwritten = live.ledger.lately
    whole: Whole | None = None
    if row.fault is None:
        with _unreadable():
            whole = await asyncio.to_thread(
                request.app[HISTORY].whole,
                Path(row.found.path),
                row.found.id,
                view=view,
                # what is told after the position is not read before it is told
                wanted=lambda: live.ledger.told_by(now) if live is not None else ALL,
            )
    try:
        return await _send(request, rest, whole, unwritten)
    except (Changed, OSError) as error:
        # the head is sent: only a broken connection can still say that the rest is missing
        raise ConnectionResetError("the transcript changed while it was sent") from error
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
    try:
        while whole is not None and (piece := await asyncio.to_thread(whole.next_piece)):
            await _give(request, response, separator + piece)
            separator = b","
    except (Changed, OSError):
        response.force_close()
        raise
    if unwritten:
        await _give(request, response, separator + msgspec.json.encode(unwritten)[1:-1])
        separator = b","
    await _give(request, response, (b"]" if separator == b"," else separator + b"]") + after)
    await response.write_eof()
    return response


async def _give(request: web.Request, response: web.StreamResponse, piece: bytes) -> None:
    """A client that takes nothing for long is left: it would keep the file open for ever."""
    try:
        async with asyncio.timeout(READER_SECONDS):
            await response.write(piece)
    except TimeoutError as error:
        if request.transport is not None:
            request.transport.abort()
        raise ConnectionResetError("the client does not read") from error


async def subagents(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    row = await row_of(request)
    with _unreadable():
        return reply(Subagents(await asyncio.to_thread(_subagents, row)))


async def subagent(request: web.Request) -> web.Response:
    query = query_of(request, NestedQuery)
    row = await row_of(request)
    wanted = request.match_info["agent_id"]
    with _unreadable():
        known = await asyncio.to_thread(_subagents, row)
        # a client that shows a call knows the call's id only
        agent = next((each for each in known if wanted in (each.agent_id, each.tool_use_id)), None)
        if agent is None:
            raise SubagentNotFound
        page = await asyncio.to_thread(
            read_subagent,
            request.app[HISTORY],
            Path(row.found.path),
            row.found.id,
            agent.agent_id,
            limit=query.limit,
            before=query.before,
        )
    for message in page.messages:
        message.agent_id = agent.agent_id
        message.parent_tool_use_id = agent.tool_use_id
    return reply(Nested(agent, page.messages, page.before, page.branches))


def _subagents(row: Row) -> list[Subagent]:
    inline = row.summary.sidechains or not row.counted
    return list_subagents(Path(row.found.path), row.found.id, inline=inline)


@contextlib.contextmanager
def _unreadable() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise SessionNotFound from error
    except OSError as error:
        raise TranscriptUnreadable(f"The transcript cannot be read: {error.strerror}.") from error


ENDPOINTS = [
    Endpoint(
        "GET",
        "/sessions/{id}",
        conversation,
        "A session and its messages, in pages from the end; limit=all streams the whole",
        Conversation,
        query=HistoryQuery,
        failures=(SessionNotFound, MessageNotFound, TranscriptUnreadable),
    ),
    Endpoint(
        "GET",
        "/sessions/{id}/subagents",
        subagents,
        "The subagents of a session",
        Subagents,
        failures=(SessionNotFound, TranscriptUnreadable),
    ),
    Endpoint(
        "GET",
        "/sessions/{id}/subagents/{agent_id}",
        subagent,
        "A subagent's messages, in pages from the end; the id of its call does as well",
        Nested,
        query=NestedQuery,
        failures=(SessionNotFound, SubagentNotFound, MessageNotFound, TranscriptUnreadable),
    ),
]
