"""Talking to sessions: send, interrupt, change, fork, close."""

from __future__ import annotations

import asyncio

import msgspec
from aiohttp import web

from claudekeeper.edge.endpoints import Endpoint
from claudekeeper.edge.keys import (
    ABILITIES,
    ARCHIVE,
    BUS,
    CATALOG,
    OVERVIEW,
    PREFERENCES,
    RECORDS,
    REGISTRY,
    ROUTER,
)
from claudekeeper.edge.sessions import known_id, shown
from claudekeeper.edge.wire import LARGEST_MESSAGE, CommandsQuery, NoQuery, body_of, query_of, reply
from claudekeeper.live.abilities import Offer, offer_of
from claudekeeper.live.taking_up import take_up
from claudekeeper.model.commands import Change, Fork, Route, Send
from claudekeeper.model.errors import (
    BodyTooLarge,
    CliFailed,
    CliMissing,
    CommandRefused,
    ForkRefused,
    KeeperBusy,
    KeeperStopping,
    MessageNotFound,
    MessageTaken,
    ModelRefused,
    ModeRefused,
    NothingInterrupted,
    SessionElsewhere,
    SessionNotFound,
    TranscriptUnreadable,
    UnsupportedMedia,
    WorkdirMissing,
)
from claudekeeper.model.events import QueueUpdated
from claudekeeper.model.routing import Routing
from claudekeeper.model.sessions import Session, State


class Accepted(msgspec.Struct, rename="camel"):
    """The message is in line; what becomes of it is told over the socket."""

    session_id: str
    uuid: str
    state: State
    # where the keeper was asked which conversation it belongs to
    routing: Routing | msgspec.UnsetType = msgspec.UNSET


class Interrupted(msgspec.Struct):
    """Whether a turn was running."""

    interrupted: bool


class Closed(msgspec.Struct, rename="camel"):
    session_id: str


class TakenBack(msgspec.Struct):
    uuid: str
    state: str


async def send(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    wish = (await body_of(request, Send, LARGEST_MESSAGE)).checked()
    if wish.route:
        live, routing = await request.app[ROUTER].send(wish)
        await request.app[RECORDS].settled()
        return reply(Accepted(live.id, wish.uuid or "", live.state, routing), 202)
    if wish.fork:
        await go_on_in_a_copy(request, wish)
    session = await request.app[REGISTRY].send(wish)
    # who is told that it was taken can rely on it, whatever becomes of the keeper
    await request.app[RECORDS].settled()
    return reply(Accepted(session.id, wish.uuid or "", session.state), 202)


async def go_on_in_a_copy(request: web.Request, wish: Send) -> None:
    """The same message twice goes to the same copy."""
    wish.session_id = await request.app[REGISTRY].copy_for(wish.session_id or "", wish.uuid or "")
    await request.app[CATALOG].row(wish.session_id)


async def route(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    wish = await body_of(request, Route)
    return reply(await request.app[ROUTER].find(wish))


async def continue_turn(request: web.Request) -> web.Response:
    """Goes on where it was cut off; whatever Claude asked, it asks again."""
    query_of(request, NoQuery)
    session_id = await known_id(request)
    left = request.app[RECORDS].left(session_id)
    if left is None:
        raise NothingInterrupted
    session, uuid = await take_up(request.app[REGISTRY], session_id, left)
    await request.app[RECORDS].settled()
    return reply(Accepted(session.id, uuid, session.state), 202)


async def interrupt(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    session_id = await known_id(request)
    return reply(Interrupted(request.app[REGISTRY].interrupt(session_id)), 202)


async def change_mode(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    session_id = await known_id(request)
    await request.app[REGISTRY].change(session_id, await body_of(request, Change))
    await request.app[PREFERENCES].settled()
    return reply(shown(request, session_id))


async def fork_session(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    session_id = await known_id(request)
    wish = await body_of(request, Fork)
    await _in_reach(request, session_id)
    new_id = await request.app[REGISTRY].fork(session_id, wish.at)
    await request.app[CATALOG].row(new_id)
    return reply(shown(request, new_id), 201)


async def _in_reach(request: web.Request, session_id: str) -> None:
    """Only what lies where Claude Code looks can be copied: a deleted session is put back first."""
    row = request.app[CATALOG].known(session_id)
    if row is not None and request.app[ARCHIVE].has(row):
        await asyncio.to_thread(request.app[ARCHIVE].restore, session_id)


async def close_session(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    session_id = await known_id(request)
    await request.app[REGISTRY].close_session(session_id)
    request.app[RECORDS].forget(session_id)
    request.app[OVERVIEW].tell_row(session_id)
    return reply(Closed(session_id), 202)


async def take_back(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    session_id = await known_id(request)
    uuid = request.match_info["uuid"].lower()
    left = request.app[RECORDS].take_back(session_id, uuid)
    if left is None:
        request.app[REGISTRY].take_back(session_id, uuid)
    else:
        gone = QueueUpdated(session_id=session_id, queue=[left.shown("cancelled")])
        request.app[BUS].publish(gone)
    return reply(TakenBack(uuid, "cancelled"))


async def session_commands(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    session_id = await known_id(request)
    live = request.app[REGISTRY].get(session_id)
    if live is not None and live.offers:
        return reply(offer_of(live.offers))
    session = request.app[OVERVIEW].session(session_id)
    if session is None or session.workdir is None:
        raise WorkdirMissing
    return reply(await request.app[ABILITIES].in_directory(session.workdir))


async def directory_commands(request: web.Request) -> web.Response:
    query = query_of(request, CommandsQuery)
    return reply(await request.app[ABILITIES].in_directory(query.workdir))


_BODY = (UnsupportedMedia, BodyTooLarge)

ENDPOINTS = [
    Endpoint(
        "POST",
        "/send",
        send,
        "Say something to a session, or begin a new one; answers at once",
        Accepted,
        status=202,
        takes=Send,
        failures=(
            SessionNotFound,
            TranscriptUnreadable,
            WorkdirMissing,
            CommandRefused,
            SessionElsewhere,
            ForkRefused,
            ModelRefused,
            ModeRefused,
            KeeperBusy,
            KeeperStopping,
            *_BODY,
        ),
    ),
    Endpoint(
        "POST",
        "/route",
        route,
        "Which recent conversation a command belongs to, or that it begins a new one",
        Routing,
        takes=Route,
        failures=_BODY,
    ),
    Endpoint(
        "POST",
        "/sessions/{id}/continue",
        continue_turn,
        "Go on with a turn in which the keeper was ended; open questions are asked again",
        Accepted,
        status=202,
        failures=(SessionNotFound, NothingInterrupted, KeeperBusy, KeeperStopping),
    ),
    Endpoint(
        "POST",
        "/sessions/{id}/interrupt",
        interrupt,
        "Stop the turn that runs, if one does",
        Interrupted,
        status=202,
        failures=(SessionNotFound,),
    ),
    Endpoint(
        "POST",
        "/sessions/{id}/mode",
        change_mode,
        "Change model or permission mode, also in mid-turn",
        Session,
        takes=Change,
        failures=(SessionNotFound, ModeRefused, ModelRefused, *_BODY),
    ),
    Endpoint(
        "POST",
        "/sessions/{id}/fork",
        fork_session,
        "Copy a session, whole or up to a message, into a new one",
        Session,
        status=201,
        takes=Fork,
        failures=(SessionNotFound, MessageNotFound, ForkRefused, *_BODY),
    ),
    Endpoint(
        "POST",
        "/sessions/{id}/close",
        close_session,
        "End what runs of a session; its history stays",
        Closed,
        status=202,
        failures=(SessionNotFound,),
    ),
    Endpoint(
        "DELETE",
        "/sessions/{id}/queue/{uuid}",
        take_back,
        "Take back a message that waits in line",
        TakenBack,
        failures=(SessionNotFound, MessageNotFound, MessageTaken),
    ),
    Endpoint(
        "GET",
        "/sessions/{id}/commands",
        session_commands,
        "Slash commands, models and modes that a session offers",
        Offer,
        failures=(SessionNotFound, WorkdirMissing, CliMissing, CliFailed),
    ),
    Endpoint(
        "GET",
        "/commands",
        directory_commands,
        "The same for a session that is yet to begin in a directory",
        Offer,
        query=CommandsQuery,
        failures=(WorkdirMissing, CliMissing, CliFailed),
    ),
]
